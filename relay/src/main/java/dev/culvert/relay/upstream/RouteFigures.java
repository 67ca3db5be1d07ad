package dev.culvert.relay.upstream;

import dev.culvert.http.observe.LinePace;
import dev.culvert.http.problem.Problem;
import dev.culvert.http.problem.Problem.Cause;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Counts what became of the requests to the upstreams of one route, and logs the upstreams' faults: of each
 * cause at most one line in ten seconds. Safe for use by any thread.
 */
public final class RouteFigures {
    private static final Logger log = LoggerFactory.getLogger(RouteFigures.class);
    private static final Duration INTERVAL = Duration.ofSeconds(10);
    private static final String ANSWERED = "answered";

    private final String route;
    private final Consumer<Consumer<MeterRegistry>> meters;
    private final LongAdder answered = new LongAdder();
    private final Map<Cause, Fault> faults = new ConcurrentHashMap<>();

    private record Fault(LongAdder count, LinePace lines) {}

    /** @param meters receives what registers a meter */
    RouteFigures(String route, Consumer<Consumer<MeterRegistry>> meters) {
        this.route = route;
        this.meters = meters;
        meters.accept(registry -> register(registry, ANSWERED, answered));
    }

    /**
     * Figures that are in no metric: they log alone.
     *
     * @param name the route in the log
     */
    public static RouteFigures uncounted(String name) {
        return new RouteFigures(name, meter -> {});
    }

    private void register(MeterRegistry registry, String outcome, LongAdder count) {
        FunctionCounter.builder("culvert.upstream.requests", count, LongAdder::sum)
                .tag("route", route)
                .tag("outcome", outcome)
                .register(registry);
    }

    /** The final head of a response has arrived. */
    public void answered() {
        answered.increment();
    }

    /**
     * The upstream did not answer, or broke its response.
     *
     * @param trouble why its last dial failed
     */
    public void failed(UpstreamAddress upstream, Problem problem, String trouble) {
        Cause cause = problem.cause();
        Fault fault = faults.computeIfAbsent(cause, first -> fault(first));
        fault.count.increment();
        long requests = fault.lines.add();
        if (requests > 0) {
            boolean dialled = cause != Cause.UPSTREAM_REFUSED && cause != Cause.UPSTREAM_TLS;
            log.atWarn()
                    .addKeyValue("route", route)
                    .addKeyValue("upstream", upstream.host() + ":" + upstream.port())
                    .addKeyValue("cause", cause.word())
                    .addKeyValue("detail", problem.detail())
                    .addKeyValue("dial", dialled ? "" : trouble)
                    .addKeyValue("requests", requests)
                    .log("an upstream failed");
        }
    }

    private Fault fault(Cause cause) {
        var made = new Fault(new LongAdder(), new LinePace(INTERVAL));
        meters.accept(registry -> register(registry, cause.word(), made.count));
        return made;
    }
}
