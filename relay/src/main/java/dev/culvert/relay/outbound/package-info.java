/**
 * Connections to upstreams over HTTP/1.1, HTTP/2 and TCP. {@link Upstreams} is the entry.
 * {@link UpstreamPool} and {@link HttpExchange} hold what both versions of HTTP share; a {@link TcpExchange}
 * has its own socket.
 */
@NullMarked
package dev.culvert.relay.outbound;

import org.jspecify.annotations.NullMarked;
