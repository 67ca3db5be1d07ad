/**
 * The relay plane's answering end inside the cluster: picks the upstream by route and passes the exchange on over pooled
 * connections in HTTP/1.1 or HTTP/2, on the exchange's own event loop. Read {@link dev.culvert.routing.Router} for requests that are
 * routed, {@link dev.culvert.routing.SingleUpstream} for a client that exposes one service.
 */
@NullMarked
package dev.culvert.router;

import org.jspecify.annotations.NullMarked;
