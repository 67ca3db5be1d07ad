/**
 * Listeners of the relay: sockets, how many of them and from whom, and the TLS in front of HTTP.
 */
@NullMarked
package dev.culvert.edge.listen;

import org.jspecify.annotations.NullMarked;
