/** Routes by path, method and header fields, and announcements of them. */
@NullMarked
package dev.culvert.relay.route;

import org.jspecify.annotations.NullMarked;
