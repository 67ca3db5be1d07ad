package dev.culvert.handlers.spi;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.security.Principal;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * What is known of a request beside its head.
 *
 * @param requestId the caller's {@code X-Request-Id} if it sent a valid one, else a new one; visible ASCII
 * @param deadline when the caller stops waiting, or null when that is unknown
 * @param caller who asks, as far as it was proven (a filter's work, or the client's certificate), or null
 * @param runtime the runtime that the request is for, {@code account/name}, or null outside of one
 * @param remote the peer of the connection
 * @param source the address that the request comes from: that of the peer, or behind proxies that the part trusts, what they
 *     say in {@code X-Forwarded-For}. Shares of what is scarce are given by it; it proves nothing. Null when it is not known
 */
public record RequestContext(String requestId, @Nullable Instant deadline, @Nullable Principal caller,
        @Nullable String runtime, InetSocketAddress remote, @Nullable InetAddress source) {

    /** A request of which only id and peer are known. */
    public static RequestContext of(String requestId, InetSocketAddress remote) {
        return new RequestContext(requestId, null, null, null, remote, remote.getAddress());
    }

    /** This context with a proven caller. */
    public RequestContext withCaller(Principal proven) {
        return new RequestContext(requestId, deadline, proven, runtime, remote, source);
    }

    /** This context with another source. */
    public RequestContext withSource(@Nullable InetAddress other) {
        return new RequestContext(requestId, deadline, caller, runtime, remote, other);
    }
}
