/** The server's tables. */
@NullMarked
package dev.culvert.server.store;

import org.jspecify.annotations.NullMarked;
