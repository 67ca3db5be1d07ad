package dev.culvert.web;

import dev.culvert.handlers.spi.EdgeRequest;
import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.handlers.spi.HandlerException.Reason;
import dev.culvert.http.observe.AuditTrail;
import dev.culvert.http.observe.LinePace;
import dev.culvert.http.quota.SourceAddress;
import io.netty.handler.codec.http.HttpHeaderNames;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/**
 * Logs people in and out. A session ends when it is not used for 30 minutes, after 12 hours, and at the next
 * request or heartbeat after its credentials became invalid.
 */
public final class Login {
    /** Bound to this host by its prefix; browsers send it to https, and to http on their own machine. */
    private static final String COOKIE = "__Host-culvert";
    private static final String ATTRIBUTES = "; Path=/; Secure; HttpOnly; SameSite=Strict";
    static final String NO_COOKIE = "The browser did not keep the session's cookie. "
            + "It keeps it for https, and for http at localhost or 127.0.0.1.";
    private static final Logger log = LoggerFactory.getLogger(Login.class);
    private static final int MAX_TOKEN = 512;
    private static final int PORT_DIGITS = 5;
    private static final Duration RETRY_WHEN_FULL = Duration.ofMinutes(1);

    private final LoginCheck credentials;
    private final String hint;
    private final WebSessions sessions;
    private final LoginLimit limit;
    /** Strangers can't fill the audit log: it gets one record in 10 s, with the number of the others. */
    private final LinePace refusals = new LinePace(Duration.ofSeconds(10));

    Login(LoginCheck credentials, String hint, Clock clock) {
        this.credentials = credentials;
        this.hint = hint;
        this.sessions = new WebSessions(clock);
        this.limit = new LoginLimit(clock);
    }

    /**
     * The name of the cookie. Cookies know no ports, so the name contains the port that the browser sees: two
     * servers whose ports are forwarded to one machine keep a session each.
     */
    private static String cookie(EdgeRequest request) {
        String host = request.headers().get(HttpHeaderNames.HOST, "");
        String port = host.substring(host.lastIndexOf(':') + 1);
        boolean isPort = port.length() < host.length() && !port.isEmpty() && port.length() <= PORT_DIGITS
                && port.chars().allMatch(c -> c >= '0' && c <= '9');
        return isPort ? COOKIE + "-" + port : COOKIE;
    }

    /** The field that removes the cookie. */
    static String noSession(EdgeRequest request) {
        return cookie(request) + "=" + ATTRIBUTES + "; Max-Age=0";
    }

    /** The session of a request; empty without one. A session whose credentials are invalid ends here. */
    Mono<WebSession> session(EdgeRequest request) {
        String id = Cookies.value(request.headers(), cookie(request));
        WebSession session = id.isEmpty() ? null : sessions.use(id);
        return session == null ? Mono.empty() : goesOn(session).filter(on -> on).map(on -> session);
    }

    /** Whether a session goes on. Ends it when its credentials are invalid. */
    public Mono<Boolean> goesOn(WebSession session) {
        return session.user().valid().map(valid -> {
            if (!valid) {
                sessions.end(session);
            }
            return sessions.goesOn(session);
        });
    }

    /** Emits the cookie of a new session. Errors: HandlerException with what the person should do. */
    Mono<String> enter(EdgeRequest request, FormFields form) {
        String token = form.text("token").strip();
        Mono<WebUser> user = token.isEmpty() || token.length() > MAX_TOKEN
                ? Mono.empty()
                : credentials.user(token);
        return user.switchIfEmpty(Mono.error(() -> refused(request)))
                .flatMap(known -> begin(request, known));
    }

    private Mono<String> begin(EdgeRequest request, WebUser user) {
        SourceAddress source = SourceAddress.of(request.context().source());
        return Mono.fromCallable(() -> sessions.begin(user))
                .subscribeOn(Schedulers.boundedElastic())
                .switchIfEmpty(Mono.error(() -> HandlerException
                        .of(Reason.OVERLOADED, "Too many people are logged in. Try again later.")
                        .retryAfter(RETRY_WHEN_FULL)))
                .map(id -> {
                    limit.succeeded(source);
                    log.atInfo()
                            .addKeyValue("user", user.name())
                            .addKeyValue("role", user.role())
                            .addKeyValue("address", source)
                            .addKeyValue("requestId", request.context().requestId())
                            .log("logged in to the web page");
                    return cookie(request) + "=" + id + ATTRIBUTES;
                });
    }

    private HandlerException refused(EdgeRequest request) {
        SourceAddress source = SourceAddress.of(request.context().source());
        LoginLimit.Failed failed = limit.failed(source);
        if (failed.told()) {
            log.atWarn()
                    .addKeyValue("address", source)
                    .addKeyValue("requestId", request.context().requestId())
                    .log(failed.limited()
                            ? "log-in to the web page refused, and further ones of this address for a minute"
                            : "log-in to the web page refused");
        }
        long since = refusals.add();
        if (since > 0) {
            new AuditTrail.Entry("", null, "log-in", "web page", request.path(), AuditTrail.Decision.DENIED,
                    request.context().requestId(), source.toString(),
                    "no valid token" + (since > 1 ? "; refused since the last record: " + since : ""))
                    .log(Instant.now());
        }
        if (failed.limited()) {
            return HandlerException
                    .of(Reason.RATE_LIMITED, "Too many failed log-ins from this address. Wait a minute.")
                    .retryAfter(LoginLimit.WINDOW);
        }
        return HandlerException.of(Reason.UNAUTHORIZED, "This is not a valid token. " + hint);
    }

    void leave(WebSession session) {
        sessions.end(session);
    }

    /** Compares in constant time. */
    static boolean isSame(String expected, String given) {
        return MessageDigest.isEqual(expected.getBytes(StandardCharsets.UTF_8),
                given.getBytes(StandardCharsets.UTF_8));
    }
}
