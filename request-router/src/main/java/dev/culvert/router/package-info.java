/**
 * The answering end of the relay plane inside the cluster. Selects the upstream by route and forwards the
 * exchange over pooled connections in HTTP/1.1 or HTTP/2, on the exchange's event loop. Read {@link
 * dev.culvert.routing.Router} for requests that are routed, {@link dev.culvert.routing.SingleUpstream} for a
 * client that exposes one service.
 */
@NullMarked
package dev.culvert.router;

import org.jspecify.annotations.NullMarked;
