package dev.culvert.relay;

/**
 * Answers relayed exchanges: a tunnel as the edge sees it, the router as the tunnel client sees it, an upstream.
 *
 * <p>An exchange lives on one event loop, {@link RelayRequest#loop()}: every call in either direction is made on it,
 * and none blocks. Each side ends exactly once: the request by {@link RequestSink#end} or {@link RequestSink#cancel},
 * the response by {@link ResponseSink#end} or {@link ResponseSink#fail}; calls after that are ignored, and their
 * buffers released. A response may end before its request has; the asker then calls {@code cancel} or goes on to
 * {@code end}, as its own protocol wants.
 *
 * <p>Back-pressure is credit by consumption: a sender counts the bytes it gave to {@code data} and subtracts those
 * reported by the other side's {@code consumed}; above its own high-water mark it stops reading its source. A
 * receiver therefore must report every byte, also those it dropped.
 */
@FunctionalInterface
public interface Relay {
    /**
     * Starts an exchange. Never throws: failures arrive at {@code response.fail}, possibly before this returns.
     *
     * @return where the request's body goes; after a failure it swallows what it is given
     */
    RequestSink open(RelayRequest request, ResponseSink response);
}
