package dev.culvert.client.dial;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.culvert.certs.tls.ServerTrust;
import dev.culvert.certs.tls.ServerVerdict;
import dev.culvert.certs.tls.TlsContexts;
import dev.culvert.config.HostPort;
import dev.culvert.http.problem.Problem;
import dev.culvert.protocol.frame.Hello;
import io.netty.buffer.Unpooled;
import io.netty.channel.EventLoop;
import io.netty.handler.codec.DateFormatter;
import io.netty.handler.codec.http.DefaultFullHttpRequest;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.ssl.SslContext;
import java.net.URI;
import java.security.cert.X509Certificate;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Date;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/**
 * The checks of one TLS connection: its end point, whether a WebSocket passes, and the difference to the
 * server's clock.
 */
public final class TlsChecks {
    private static final int MAX_ANSWER_BYTES = 64 << 10;
    private static final int MAX_TEXT = 120;
    private static final Duration SMALL_SKEW = Duration.ofSeconds(30);
    /** Certificates are valid from five minutes before their issue. */
    private static final Duration GREAT_SKEW = Duration.ofMinutes(5);
    private static final JsonMapper JSON = new JsonMapper();

    private final Connector connector;
    private final EventLoop loop;
    private final Clock clock;
    private final Trusts trusts;

    public TlsChecks(Connector connector, EventLoop loop, Clock clock, Trusts trusts) {
        this.connector = connector;
        this.loop = loop;
        this.clock = clock;
        this.trusts = trusts;
    }

    /** Runs {@code tls} and, if TLS was established, {@code websocket} and {@code clock}. */
    public Flux<Finding> check(URI server, HostPort address) {
        return Flux.defer(() -> {
            var verdict = new AtomicReference<@Nullable ServerVerdict>();
            long begun = System.nanoTime();
            return Mono.fromCallable(() -> trusts.observing(verdict::set))
                    .subscribeOn(Schedulers.boundedElastic())
                    .flatMap(tls -> asked(server, address, tls))
                    .flatMapIterable(answer -> findings(answer, verdict.get(), begun))
                    .onErrorResume(e -> Flux.fromIterable(unanswered(e, verdict.get())));
        });
    }

    private Mono<HttpCall.Answer> asked(URI server, HostPort address, SslContext tls) {
        return connector.open(address, loop)
                .flatMap(channel -> HttpCall.over(channel, tls, address, upgrade(server), MAX_ANSWER_BYTES));
    }

    /**
     * Creates a WebSocket upgrade without a client certificate. Culvert refuses it with its own problem
     * document.
     */
    public static FullHttpRequest upgrade(URI server) {
        var request = new DefaultFullHttpRequest(HttpVersion.HTTP_1_1, HttpMethod.GET,
                Dialler.complete(server).getRawPath(), Unpooled.EMPTY_BUFFER);
        request.headers()
                .set(HttpHeaderNames.UPGRADE, "websocket")
                .set(HttpHeaderNames.CONNECTION, "upgrade")
                .set(HttpHeaderNames.SEC_WEBSOCKET_VERSION, "13")
                .set(HttpHeaderNames.SEC_WEBSOCKET_PROTOCOL, Hello.SUBPROTOCOL)
                .set(HttpHeaderNames.SEC_WEBSOCKET_KEY, "Y3VsdmVydCBkb2N0b3IgIQ==");
        return request;
    }

    private List<Finding> findings(HttpCall.Answer answer, @Nullable ServerVerdict verdict, long begun) {
        var findings = new ArrayList<Finding>();
        if (verdict != null) {
            findings.add(tls(verdict, answer.tls()));
        }
        findings.add(webSocket(answer));
        findings.add(skew(answer, Duration.ofNanos(System.nanoTime() - begun)));
        return findings;
    }

    private List<Finding> unanswered(Throwable failure, @Nullable ServerVerdict verdict) {
        String reason = TlsFault.of(failure);
        return verdict == null
                ? List.of(Finding.failed("tls", reason,
                        "dial the tunnel listener's port; a firewall that looks at TLS may cut it: ask for an exception"))
                : List.of(tls(verdict, "TLS"),
                        Finding.failed("websocket", "no answer to the upgrade: " + reason,
                                "something on the way cuts WebSockets: its operator must let them through"));
    }

    private Finding tls(ServerVerdict verdict, String version) {
        X509Certificate leaf = verdict.chain().getFirst();
        String facts = version + ", certificate issued by " + verdict.issuer() + ", ends "
                + leaf.getNotAfter().toInstant() + "; chain: "
                + verdict.chain()
                        .stream()
                        .map(certificate -> certificate.getSubjectX500Principal().getName())
                        .collect(Collectors.joining(" < "));
        if (verdict.isTrustedBy(Trusts.SERVER)) {
            return Finding.ok("tls", facts);
        }
        if (verdict.isTrustedBy(Trusts.EXTRA)) {
            return Finding.warn("tls", "TLS is ended on the way by " + verdict.issuer()
                    + ", which extraCa trusts. " + facts,
                    "a client certificate can't pass that: have this server exempted from inspection, unless it takes a proof in the first frames instead");
        }
        ServerVerdict.Refusal refusal = verdict.refusals().get(Trusts.SERVER);
        return refusal == null
                ? Finding.failed("tls", facts, "name the server's authority in serverCa")
                : Finding.failed("tls", facts + ". " + refusal.text(), switch (refusal.reason()) {
                    case HOST -> "dial a name that the certificate is for, at the tunnel listener's port";
                    case ENDED, EARLY ->
                        "set this machine's clock if it is wrong, else let the server's operator renew the certificate";
                    case AUTHORITY, OTHER -> "if " + verdict.issuer()
                            + " belongs to a proxy that inspects TLS, have this server exempted or name that authority in extraCa; if it is the server's own, name it in serverCa";
                });
    }

    private static Finding webSocket(HttpCall.Answer answer) {
        String cause = cause(answer);
        if (answer.status() == 101
                && Hello.SUBPROTOCOL.equals(answer.fields().get("sec-websocket-protocol"))) {
            return Finding.ok("websocket", "the server opened a WebSocket");
        }
        if (cause == null) {
            return Finding.failed("websocket",
                    "status " + answer.status() + " from something that is no Culvert server"
                            + named(answer, "server") + named(answer, "via"),
                    "the address may be another service's, or a proxy answers in the server's place: it must let WebSockets through");
        }
        return switch (cause) {
            case "unauthorized" -> Finding.ok("websocket",
                    "the upgrade reaches the server, which asks for a client certificate, as it should");
            case "upgrade-required" -> Finding.failed("websocket",
                    "the request reached the server without its Upgrade" + named(answer, "via"),
                    "a proxy or load balancer on the way removes Upgrade: its operator must let WebSockets through");
            case "overloaded", "draining", "rate-limited" -> Finding.warn("websocket",
                    "the server answered " + answer.status() + " " + cause, "try again later");
            case "unknown-host" -> Finding.failed("websocket", Refusal.EDGE_ANSWERED,
                    "dial the tunnel listener's port");
            default -> Finding.failed("websocket", "the server answered " + answer.status() + " " + cause,
                    "check the path of the server's address; none means /tunnel/v1");
        };
    }

    /** The cause of a problem document of Culvert; null if another server sent the response. */
    private static @Nullable String cause(HttpCall.Answer answer) {
        if (!answer.fields().get(HttpHeaderNames.CONTENT_TYPE, "").startsWith(Problem.MEDIA_TYPE)) {
            return null;
        }
        try {
            String type = JSON.readTree(answer.body()).path("type").asText();
            return type.startsWith(Refusal.PROBLEM)
                    ? printable(type.substring(Refusal.PROBLEM.length()))
                    : null;
        } catch (JsonProcessingException e) {
            return null;
        }
    }

    private static String named(HttpCall.Answer answer, String field) {
        String value = answer.fields().get(field);
        return value == null ? "" : ", " + field + ": " + printable(value);
    }

    private static String printable(String text) {
        return (text.length() > MAX_TEXT ? text.substring(0, MAX_TEXT) + "…" : text).replaceAll("\\p{C}",
                "?");
    }

    private Finding skew(HttpCall.Answer answer, Duration took) {
        Date date = DateFormatter.parseHttpDate(answer.fields().get(HttpHeaderNames.DATE, ""));
        if (date == null) {
            return Finding.warn("clock", "the answer has no Date: not measured",
                    "compare this machine's clock with another");
        }
        Instant here = clock.instant().minus(took.dividedBy(2));
        Duration skew = Duration.between(date.toInstant(), here);
        String text = skew.abs().compareTo(Duration.ofSeconds(2)) < 0
                ? "within 2 s of the server's"
                : skew.abs().toSeconds() + " s " + (skew.isNegative() ? "behind" : "ahead of")
                        + " the server's";
        if (skew.abs().compareTo(SMALL_SKEW) <= 0) {
            return Finding.ok("clock", text);
        }
        String advice = "set this machine's clock, by NTP for instance";
        return skew.abs().compareTo(GREAT_SKEW) <= 0
                ? Finding.warn("clock", text, advice)
                : Finding.failed("clock", text + ": certificates will seem ended or not yet valid", advice);
    }

    /**
     * The trust of a client in servers.
     *
     * @param server the trust without the extra authorities
     * @param extra the extra authorities, or null
     */
    public record Trusts(ServerTrust server, @Nullable ServerTrust extra) {
        static final String SERVER = "server";
        static final String EXTRA = "extra";

        /**
         * Creates the TLS context of the check. Reads the system's roots, so it must not run on an event
         * loop.
         */
        public SslContext observing(Consumer<ServerVerdict> told) {
            // Without extra authorities both rules are equal.
            return TlsContexts.observing(
                    Map.of(SERVER, server, EXTRA, extra == null ? server : extra), told,
                    List.of("http/1.1"));
        }
    }
}
