/**
 * The relay plane's contract between who received a request and who answers it: edge and tunnel, tunnel and router,
 * router and upstream. Raw Netty types and callbacks, no reactive streams: every allocation here is paid by each
 * request. Read {@link dev.culvert.edge.relay.Relay} first.
 */
@NullMarked
package dev.culvert.edge.relay;

import org.jspecify.annotations.NullMarked;
