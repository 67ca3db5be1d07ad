package dev.culvert.handlers.spi;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.security.Principal;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * Facts about a request that its head does not contain.
 *
 * @param requestId the caller's {@code X-Request-Id} if it sent a valid one, else a new one; visible ASCII
 * @param deadline the time at which the caller stops waiting, or null if unknown
 * @param caller the authenticated caller (from a filter or the client's certificate), or null
 * @param runtime the runtime that the request is for, {@code account/name}, or null outside of one
 * @param remote the peer of the connection
 * @param source the source address of the request: that of the peer, or the one that trusted proxies state in
 *     {@code X-Forwarded-For}. It selects the account of quotas and proves no identity. Null if unknown
 */
public record RequestContext(String requestId, @Nullable Instant deadline, @Nullable Principal caller,
        @Nullable String runtime, InetSocketAddress remote, @Nullable InetAddress source) {

    /** A context with only id and peer. */
    public static RequestContext of(String requestId, InetSocketAddress remote) {
        return new RequestContext(requestId, null, null, null, remote, remote.getAddress());
    }

    /** This context with an authenticated caller. */
    public RequestContext withCaller(Principal proven) {
        return new RequestContext(requestId, deadline, proven, runtime, remote, source);
    }

    /** This context as it was before its caller was authenticated. */
    public RequestContext withoutCaller() {
        return new RequestContext(requestId, deadline, null, runtime, remote, source);
    }

    /** This context with another source. */
    public RequestContext withSource(@Nullable InetAddress other) {
        return new RequestContext(requestId, deadline, caller, runtime, remote, other);
    }
}
