/** Pooled connections to upstreams over HTTP/1.1, HTTP/2 and TCP. */
@NullMarked
package dev.culvert.relay.outbound;

import org.jspecify.annotations.NullMarked;
