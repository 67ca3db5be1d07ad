package dev.culvert.relay;

/**
 * Answers relayed exchanges: a tunnel behind the edge, the router behind the tunnel client, or an upstream.
 *
 * <p>An exchange lives on one event loop, {@link RelayRequest#loop()}: every call in either direction is made
 * on it, and none blocks. Each side ends exactly once: the request by {@link RequestSink#end} or
 * {@link RequestSink#cancel}, the response by {@link ResponseSink#end} or {@link ResponseSink#fail}. Later
 * calls are ignored, and their buffers released. A response may end before its request. The asker then calls
 * {@code cancel} or continues to {@code end}, as its own protocol requires.
 *
 * <p>Back-pressure is credit by consumption. A sender counts the bytes that it passed to {@code data} and
 * subtracts the bytes that the other side reported by {@code consumed}. Above its own high-water mark it
 * stops reading its source. A receiver must therefore report every byte, dropped bytes included.
 */
@FunctionalInterface
public interface Relay {
    /**
     * Starts an exchange. Never throws: failures are reported to {@code response.fail}, possibly before this
     * returns.
     *
     * @return the sink of the request's body; after a failure it releases the buffers that it receives
     */
    RequestSink open(RelayRequest request, ResponseSink response);
}
