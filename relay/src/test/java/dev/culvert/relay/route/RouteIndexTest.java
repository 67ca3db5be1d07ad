package dev.culvert.relay.route;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.culvert.config.ConfigException;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.Http2Headers;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class RouteIndexTest {
    private static final UnaryOperator<RouteRule> ITSELF = UnaryOperator.identity();

    private static @Nullable RouteRule find(List<RouteRule> rules, String method, String host, String path,
            String... fields) {
        Http2Headers head = new DefaultHttp2Headers().method(method).authority(host).path(path);
        for (int i = 0; i < fields.length; i += 2) {
            head.add(fields[i], fields[i + 1]);
        }
        return RouteIndex.of(rules, ITSELF).find(RouteQuery.of(head, null));
    }

    private static RouteRule rule(String path, @Nullable String host, String... methods) {
        return RouteRule.of(path, host, List.of(methods), Map.of());
    }

    @Test
    void aBranchThatLeadsNowhereIsLeftForTheNextBest() {
        RouteRule literal = rule("/a/b/c/", null);
        RouteRule variable = rule("/a/{x}/d/", null);
        RouteRule shorter = rule("/a/", null);
        List<RouteRule> rules = List.of(shorter, variable, literal);

        assertThat(find(rules, "GET", "h", "/a/b/c/x")).isEqualTo(literal);
        assertThat(find(rules, "GET", "h", "/a/b/d")).isEqualTo(variable);
        assertThat(find(rules, "GET", "h", "/a/b/e")).isEqualTo(shorter);
        assertThat(find(rules, "GET", "h", "/b")).isNull();
    }

    @Test
    void aLongerPathWhoseHostOrMethodDoesNotFitIsPassedOver() {
        RouteRule deep = rule("/a/b/", "other.example", "POST");
        RouteRule shallow = rule("/a/", null);

        assertThat(find(List.of(deep, shallow), "POST", "other.example", "/a/b")).isEqualTo(deep);
        assertThat(find(List.of(deep, shallow), "GET", "other.example", "/a/b")).isEqualTo(shallow);
        assertThat(find(List.of(deep, shallow), "POST", "x.example", "/a/b")).isEqualTo(shallow);
    }

    @Test
    void amongEqualRoutesTheOrderOfTheListDecides() {
        RouteRule first = RouteRule.of("/a/", null, List.of(), Map.of("x", "1"));
        RouteRule second = RouteRule.of("/a/", null, List.of(), Map.of("y", "1"));

        assertThat(find(List.of(first, second), "GET", "h", "/a", "x", "1", "y", "1")).isEqualTo(first);
        assertThat(find(List.of(second, first), "GET", "h", "/a", "x", "1", "y", "1")).isEqualTo(second);
    }

    @Test
    void aRouteThatOthersLeaveNothingIsNamed() {
        assertHidden(1, rule("/a/", null), rule("/a/", null));
        assertHidden(1, rule("/a/{x}/", null), rule("/a/{y}/", null));
        assertHidden(2, rule("/b/", null), rule("/a/", "h"), rule("/a/", "h"));
        assertHidden(1, rule("/a/", null, "GET", "POST"), rule("/a/", null, "GET"));
        assertHidden(1, RouteRule.of("/a/", null, List.of("GET"), Map.of()), rule("/a/", null, "GET"));
        assertThat(RouteIndex.of(List.of(rule("/a/", null), rule("/a/", "h"), rule("/a/", null, "GET"),
                RouteRule.of("/a/", null, List.of(), Map.of("x", "*"))), ITSELF)).isNotNull();
    }

    private static void assertHidden(int position, RouteRule... rules) {
        assertThatThrownBy(() -> RouteIndex.of(List.of(rules), ITSELF)).isInstanceOfSatisfying(
                ConfigException.class,
                e -> assertThat(e.key()).isEqualTo("routes[" + position + "].path"));
    }

    @Test
    void routesThatAreLookedAtOneByOneAreFew() {
        List<RouteRule> rules = IntStream.rangeClosed(0, RouteIndex.MAX_ALIKE)
                .mapToObj(i -> RouteRule.of("/a/", null, List.of(), Map.of("x", "v" + i)))
                .toList();

        assertThat(RouteIndex.of(rules.subList(0, RouteIndex.MAX_ALIKE), ITSELF)).isNotNull();
        assertThatThrownBy(() -> RouteIndex.of(rules, ITSELF)).hasMessageContaining("at most 64");
    }

    /** The tree's answer is that of looking at all routes, in the order that docs/routing.md gives. */
    @Test
    void theTreeAnswersAsLookingAtAllRoutesDoes() {
        Random random = new Random(7);
        for (int round = 0; round < 300; round++) {
            List<RouteRule> rules = table(random);
            RouteIndex<RouteRule> index = RouteIndex.of(rules, ITSELF);
            for (int i = 0; i < 30; i++) {
                RouteQuery query = RouteQuery.of(random.nextBoolean() ? "GET" : "POST",
                        List.of("a.x", "b.x", "c.a.x", "y").get(random.nextInt(4)), path(random, false));

                RouteRule best = rules.stream()
                        .filter(rule -> rule.mismatch(query) == null)
                        .min((left, right) -> rank(left, rules).compareTo(rank(right, rules)))
                        .orElse(null);

                assertThat(index.find(query)).as("%s in %s", query, rules).isSameAs(best);
            }
        }
    }

    private static List<RouteRule> table(Random random) {
        List<RouteRule> rules = new ArrayList<>();
        while (rules.size() < 12) {
            String host = List.of("", "a.x", "*.x", "*.a.x").get(random.nextInt(4));
            RouteRule added = rule(path(random, true), host.isEmpty() ? null : host,
                    random.nextInt(3) == 0 ? new String[]{"GET"} : new String[0]);
            boolean fresh = rules.stream()
                    .noneMatch(rule -> rank(rule, List.of(rule)).equals(rank(added, List.of(added)))
                            && rule.path().shape().equals(added.path().shape()));
            if (fresh) {
                rules.add(added);
            }
        }
        return rules;
    }

    private static String path(Random random, boolean pattern) {
        StringBuilder path = new StringBuilder("/");
        for (int i = random.nextInt(4); i > 0; i--) {
            path.append(pattern && random.nextInt(3) == 0 ? "{v" + i + "}" : random.nextBoolean() ? "a" : "b")
                    .append('/');
        }
        return path.toString();
    }

    private static String rank(RouteRule rule, List<RouteRule> rules) {
        StringBuilder rank = new StringBuilder();
        rule.path().segments().forEach(segment -> rank.append(segment.variable() ? 'B' : 'A'));
        String host = rule.host();
        String hostRank = host == null
                ? "9"
                : !host.startsWith("*") ? "0" : String.valueOf(9 - host.length());
        return rank.append('C')
                .append(hostRank)
                .append(rule.methods().isEmpty() ? 1 : 0)
                .append(String.format("%03d", rules.indexOf(rule)))
                .toString();
    }
}
