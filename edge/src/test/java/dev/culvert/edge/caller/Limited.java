package dev.culvert.edge.caller;

import dev.culvert.edge.config.ByteSize;

/** The same limits, with one of them tighter. */
final class Limited {
    private Limited() {}

    static CallerLimits requests(CallerLimits usual, int perSecond) {
        return with(usual, usual.maxConnectionsPerAddress(), perSecond, usual.bytesPerSecond());
    }

    static CallerLimits connections(CallerLimits usual, int perAddress) {
        return with(usual, perAddress, usual.requestsPerSecond(), usual.bytesPerSecond());
    }

    static CallerLimits bytes(CallerLimits usual, ByteSize perSecond) {
        return with(usual, usual.maxConnectionsPerAddress(), usual.requestsPerSecond(), perSecond);
    }

    private static CallerLimits with(CallerLimits usual, int perAddress, int requests, ByteSize bytes) {
        return new CallerLimits(usual.maxHeadBytes(), usual.maxHeadFields(), usual.maxUriBytes(),
                usual.maxStreams(), usual.headTimeout(), usual.requestBodyIdleTimeout(),
                usual.responseHeadTimeout(), usual.requestStallTimeout(), usual.idleTimeout(), perAddress,
                requests, requests,
                usual.maxBodyBytes(), bytes, usual.minRequestBodyRate(), usual.responseStallTimeout(),
                usual.maxBufferedBytes());
    }
}
