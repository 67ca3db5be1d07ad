package dev.culvert.handlers.spi;

import io.netty.handler.codec.http.DefaultHttpHeaders;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpMethod;
import java.time.Duration;
import java.util.Arrays;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A failure that the caller of a handler should receive. The edge renders it as a problem. Carries no stack
 * trace, because it is a response and not a bug.
 */
public final class HandlerException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final Reason reason;
    private final @Nullable Duration retryAfter;
    private final transient HttpHeaders fields;

    private HandlerException(Reason reason, String detail, @Nullable Duration retryAfter,
            HttpHeaders fields) {
        super(detail, null, false, false);
        this.reason = reason;
        this.retryAfter = retryAfter;
        this.fields = fields;
    }

    /**
     * A failure of the given kind.
     *
     * @param detail one sentence for the caller: no inner host, class name or secret
     */
    public static HandlerException of(Reason reason, String detail) {
        return new HandlerException(reason, detail, null, new DefaultHttpHeaders());
    }

    /** 405 with its {@code Allow} field (RFC 9110 §15.5.6). */
    public static HandlerException methodNotAllowed(HttpMethod... allowed) {
        String allow = Arrays.stream(allowed).map(HttpMethod::name).collect(Collectors.joining(", "));
        return of(Reason.METHOD_NOT_ALLOWED, "allowed here: " + allow).with(HttpHeaderNames.ALLOW, allow);
    }

    /** This failure with {@code Retry-After}. */
    public HandlerException retryAfter(Duration wait) {
        return new HandlerException(reason, detail(), wait, fields);
    }

    /** This failure with one more response field, for example {@code WWW-Authenticate}. */
    public HandlerException with(CharSequence name, String value) {
        return new HandlerException(reason, detail(), retryAfter, fields.copy().set(name, value));
    }

    public Reason reason() {
        return reason;
    }

    public String detail() {
        String message = getMessage();
        return message == null ? "" : message;
    }

    /** The time that the caller should wait, or null if waiting does not help. */
    public @Nullable Duration retryAfter() {
        return retryAfter;
    }

    /** Further fields of the response. */
    public HttpHeaders fields() {
        return fields;
    }

    /**
     * The reason, which determines the status and the cause of the caller's problem. {@code NOT_ALLOWED}
     * means that the cluster's policy forbids the request, {@code FORBIDDEN} that the caller's own
     * credentials do not permit it. Both have the same cause, at different hops.
     */
    public enum Reason {
        BAD_REQUEST, UNAUTHORIZED, NOT_ALLOWED, NOT_FOUND, METHOD_NOT_ALLOWED, CONFLICT, BODY_TOO_LARGE, REQUEST_TIMEOUT, RATE_LIMITED, OVERLOADED, DRAINING, FORBIDDEN, UNAVAILABLE, UPSTREAM_TIMEOUT, UPSTREAM_BAD_RESPONSE, STORE_UNAVAILABLE
    }
}
