package dev.culvert.appproxy.access;

import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.handlers.spi.HandlerException.Reason;
import dev.culvert.http.net.OutboundCalls;
import io.netty.channel.ConnectTimeoutException;
import io.netty.handler.timeout.TimeoutException;
import java.io.Serial;
import java.net.ConnectException;
import java.net.UnknownHostException;
import java.time.Duration;
import javax.net.ssl.SSLException;

/**
 * The control plane gave no answer. The message is the reason, in a text for callers: without host and path.
 */
final class ControlPlaneAway extends RuntimeException {
    @Serial
    private static final long serialVersionUID = 1L;
    private static final Duration RETRY = Duration.ofSeconds(1);

    private final boolean isRefusal;

    ControlPlaneAway(String reason) {
        this(reason, false);
    }

    private ControlPlaneAway(String reason, boolean isRefusal) {
        super(reason, null, false, false);
        this.isRefusal = isRefusal;
    }

    /** It does not know this runtime: its API key or its account is gone. */
    static ControlPlaneAway refused() {
        return new ControlPlaneAway("it refuses this runtime's API key", true);
    }

    /** Whether it answered, and what was remembered is not this runtime's to serve any more. */
    boolean isRefusal() {
        return isRefusal;
    }

    static ControlPlaneAway because(Throwable failure) {
        return failure instanceof ControlPlaneAway known ? known : new ControlPlaneAway(switch (failure) {
            case ConnectTimeoutException late -> "no connection in time";
            case ConnectException refused -> "the connection was refused";
            case UnknownHostException unknown -> "its name can't be resolved";
            case SSLException tls -> "TLS with it failed";
            case TimeoutException late -> "no answer in time";
            case java.util.concurrent.TimeoutException late -> "no answer in time";
            case OutboundCalls.TooLargeException large -> "its answer is too large";
            default -> "the connection broke";
        });
    }

    /** The error for the caller: UNAVAILABLE, with the reason. */
    HandlerException forCaller() {
        return HandlerException
                .of(Reason.UNAVAILABLE, "the control plane can't be asked for permission: " + getMessage())
                .retryAfter(RETRY);
    }
}
