package dev.culvert.benchmarks.micro;

import dev.culvert.relay.route.RouteIndex;
import dev.culvert.relay.route.RouteQuery;
import dev.culvert.relay.route.RouteRule;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/**
 * Measures the cost of finding a route by the number of routes, for the router's tree and for a linear scan
 * of the same routes. Half of the routes have a variable, a tenth have a host.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
public class RouteLookupBenchmark {
    private static final int QUERIES = 256;

    /** The number of routes. */
    @Param({"10", "100", "1000", "10000"})
    public int routes;

    private List<RouteRule> rules = List.of();
    private RouteIndex<RouteRule> index = RouteIndex.of(List.of(), UnaryOperator.identity());
    private List<RouteQuery> queries = List.of();
    private int next;

    /** Creates the table and requests that are spread over its routes. */
    @Setup
    public void fill() {
        var table = new ArrayList<RouteRule>();
        for (int i = 0; i < routes; i++) {
            String path = i % 2 == 0
                    ? "/api/service-" + i + "/v1/"
                    : "/api/service-" + i + "/{tenant}/items/";
            table.add(RouteRule.of(path, i % 10 == 0 ? "*.example.com" : null, List.of(), Map.of()));
        }
        rules = List.copyOf(table);
        index = RouteIndex.of(rules, UnaryOperator.identity());
        var asked = new ArrayList<RouteQuery>();
        for (int i = 0; i < QUERIES; i++) {
            int route = (int) ((long) i * routes / QUERIES);
            String path = route % 2 == 0
                    ? "/api/service-" + route + "/v1/things/" + i
                    : "/api/service-" + route + "/acme/items/" + i;
            asked.add(RouteQuery.of("GET", "acme-prod.example.com", path));
        }
        queries = List.copyOf(asked);
    }

    private RouteQuery query() {
        next = (next + 1) % QUERIES;
        return queries.get(next);
    }

    /** Finds a route with the router's tree. */
    @Benchmark
    public @Nullable RouteRule tree() {
        return index.find(query());
    }

    /** Finds a route by a linear scan. */
    @Benchmark
    public @Nullable RouteRule scan() {
        RouteQuery query = query();
        for (RouteRule rule : rules) {
            if (rule.mismatch(query) == null) {
                return rule;
            }
        }
        return null;
    }
}
