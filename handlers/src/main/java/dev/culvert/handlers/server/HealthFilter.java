package dev.culvert.handlers.server;

import dev.culvert.handlers.spi.EdgeFilter;
import dev.culvert.handlers.spi.EdgeHandler;
import dev.culvert.handlers.spi.EdgeRequest;
import dev.culvert.handlers.spi.EdgeResponse;
import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.http.fields.AllowedHosts;
import dev.culvert.http.observe.Readiness;
import dev.culvert.http.observe.Telemetry;
import dev.culvert.http.problem.EdgeException;
import dev.culvert.http.problem.Problem;
import dev.culvert.http.problem.Problem.Cause;
import dev.culvert.http.problem.Problem.Hop;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpResponseStatus;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * Answers {@code /healthz} (the process lives), {@code /readyz} (it can do its work) and, given a {@link
 * Telemetry}, {@code /metrics}; on a listener of its own also {@code /}. Passes other requests to the next
 * handler.
 *
 * <p>From this machine {@code /metrics} is asked by an address, {@code localhost} or a configured name, else
 * the answer is 421: a web page can let its own name resolve to a loopback listener (DNS rebinding).
 */
public final class HealthFilter implements EdgeFilter {
    private static final Problem ELSEWHERE = Problem.of(Cause.MISDIRECTED_REQUEST, Hop.EDGE,
            "metrics are given to this machine by address or localhost only");
    private static final String TEXT = "text/plain; charset=utf-8";

    private final Supplier<Readiness> readiness;
    private final @Nullable Telemetry telemetry;
    private final @Nullable String listener;
    private final AllowedHosts hosts;

    /**
     * Creates the filter.
     *
     * @param readiness called on an event loop for each {@code /readyz}; must not block
     * @param telemetry the metrics of {@code /metrics}, or null to pass that path to the next handler
     */
    public HealthFilter(Supplier<Readiness> readiness, @Nullable Telemetry telemetry) {
        this(readiness, telemetry, null, AllowedHosts.of(List.of()));
    }

    private HealthFilter(Supplier<Readiness> readiness, @Nullable Telemetry telemetry,
            @Nullable String listener, AllowedHosts hosts) {
        this.hosts = hosts;
        this.readiness = readiness;
        this.telemetry = telemetry;
        this.listener = listener;
    }

    /**
     * A filter that answers {@code /}, too: for a listener with nothing else there.
     *
     * @param text lines that tell people what this listener is and which paths it has
     */
    public HealthFilter about(String text) {
        return new HealthFilter(readiness, telemetry, text, hosts);
    }

    /** A filter with further names by which this machine may ask for metrics. */
    public HealthFilter calledBy(AllowedHosts names) {
        return new HealthFilter(readiness, telemetry, listener, names);
    }

    @Override
    public Mono<EdgeResponse> filter(EdgeRequest request, EdgeHandler next) {
        return switch (request.path()) {
            case "/healthz" -> answer(request, () -> text(HttpResponseStatus.OK, "ok"));
            case "/readyz" -> answer(request, this::ready);
            case "/metrics" -> telemetry == null
                    ? next.handle(request)
                    : !isMeant(request)
                            ? Mono.error(() -> new EdgeException(ELSEWHERE))
                            : answer(request, () -> metrics(telemetry));
            case "/" -> listener == null
                    ? next.handle(request)
                    : answer(request, () -> text(HttpResponseStatus.OK, listener));
            default -> next.handle(request);
        };
    }

    private boolean isMeant(EdgeRequest request) {
        InetAddress peer = request.context().remote().getAddress();
        return peer == null || !peer.isLoopbackAddress()
                || hosts.has(request.headers().get(HttpHeaderNames.HOST));
    }

    private static Mono<EdgeResponse> answer(EdgeRequest request, Supplier<EdgeResponse> answer) {
        return request.method().equals(HttpMethod.GET) || request.method().equals(HttpMethod.HEAD)
                ? Mono.fromSupplier(answer)
                : Mono.error(HandlerException.methodNotAllowed(HttpMethod.GET, HttpMethod.HEAD));
    }

    private EdgeResponse ready() {
        Readiness now = readiness.get();
        return text(now.ready() ? HttpResponseStatus.OK : HttpResponseStatus.SERVICE_UNAVAILABLE, now.text());
    }

    private static EdgeResponse text(HttpResponseStatus status, String line) {
        return EdgeResponse.Http.of(status, TEXT, (line + "\n").getBytes(StandardCharsets.UTF_8))
                .with("cache-control", "no-store");
    }

    private static EdgeResponse metrics(Telemetry telemetry) {
        return EdgeResponse.Http.of(HttpResponseStatus.OK, Telemetry.MEDIA_TYPE,
                telemetry.scrape().getBytes(StandardCharsets.UTF_8));
    }
}
