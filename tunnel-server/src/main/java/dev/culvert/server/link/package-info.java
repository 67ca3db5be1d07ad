/** How tunnel clients connect: handshake, admission, session. */
@NullMarked
package dev.culvert.server.link;

import org.jspecify.annotations.NullMarked;
