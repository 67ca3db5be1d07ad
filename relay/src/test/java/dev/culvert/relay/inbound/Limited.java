package dev.culvert.relay.inbound;

import dev.culvert.config.ByteSize;
import dev.culvert.relay.quota.CallerLimits;

/** The same limits, with one of them tighter. */
public final class Limited {
    private Limited() {}

    public static CallerLimits requests(CallerLimits usual, int perSecond) {
        return with(usual, usual.maxConnectionsPerAddress(), perSecond, usual.bytesPerSecond());
    }

    public static CallerLimits connections(CallerLimits usual, int perAddress) {
        return with(usual, perAddress, usual.requestsPerSecond(), usual.bytesPerSecond());
    }

    public static CallerLimits bytes(CallerLimits usual, ByteSize perSecond) {
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
