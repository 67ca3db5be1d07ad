package dev.culvert.e2e;

import dev.culvert.relay.testing.CorpusCase;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The cases of the corpus that some listeners are meant to answer otherwise than the edge, and what they answer. */
final class ListenerExceptions {
    private static final String NOT_FOUND = "404 not-found";
    private static final String GET_ONLY = "405 method-not-allowed";
    /** The admin listener serves its own names only, and the corpus' hosts are none of them. */
    private static final String MISDIRECTED = "421 misdirected-request";
    /** The listeners of the handlers' plane, whose server is Reactor Netty's. */
    static final Set<String> HANDLERS = Set.of("app-proxy", "control-plane", "admin", "client-health",
            "router-health");

    /**
     * One case at some listeners.
     *
     * @param reason why it is meant
     * @param answers by listener, joined by commas, with the answer to the request behind it
     */
    private record Otherwise(String reason, Map<String, String> answers) {}

    private static final Map<String, Otherwise> ALL = Map.of(
            "an expectation without a body is none",
            new Otherwise("Reactor Netty closes behind it",
                    Map.of("app-proxy", NOT_FOUND, "control-plane", NOT_FOUND, "admin", MISDIRECTED,
                            "client-health", NOT_FOUND, "router-health", NOT_FOUND)),
            "an unknown host with a body is followed",
            new Otherwise("any host is served, or none but their own",
                    Map.of("router", "200, 200, 200", "app-proxy", times(3, NOT_FOUND), "control-plane",
                            times(3, NOT_FOUND), "admin",
                            times(3, MISDIRECTED), "client-health",
                            GET_ONLY + ", " + times(2, NOT_FOUND), "router-health",
                            GET_ONLY + ", " + times(2, NOT_FOUND))),
            "host: none in HTTP/1.0",
            new Otherwise("balancers ask for health so",
                    Map.of("client-health", "200", "router-health", "200")),
            "the preface of HTTP/2",
            new Otherwise("a plain edge and a router speak HTTP/2, too", Map.of("edge", "", "router", "")),
            "101 fields",
            new Otherwise("refused in the same way, but closed; a tunnel listener counts octets only",
                    handlers("431 head-too-large", "tunnel", NOT_FOUND)),
            "an overlong extension",
            new Otherwise("a tunnel listener has one limit for all lines",
                    Map.of("tunnel", "414 uri-too-long")),
            "too many trailers",
            new Otherwise("a tunnel listener counts octets only", Map.of("tunnel", NOT_FOUND)),
            "target: 16 KiB and a byte",
            new Otherwise("refused in the same way, but closed", handlers("414 uri-too-long")));

    private ListenerExceptions() {}

    private static String times(int count, String answer) {
        return Stream.generate(() -> answer).limit(count).collect(Collectors.joining(", "));
    }

    /** The same answer of all listeners of handlers, and that of {@code other}: a listener, and what it answers. */
    private static Map<String, String> handlers(String answer, String... other) {
        Map<String, String> all = HANDLERS.stream()
                .collect(Collectors.toMap(Function.identity(), name -> answer));
        if (other.length == 2) {
            all.put(other[0], other[1]);
        }
        return all;
    }

    /** The names of the cases that one of these listeners answers otherwise. */
    static Set<String> names(Set<String> listeners) {
        Set<String> names = new TreeSet<>();
        ALL.forEach((name, otherwise) -> {
            if (otherwise.answers.keySet().stream().anyMatch(listeners::contains)) {
                names.add(name);
            }
        });
        return names;
    }

    /** Whether a listener is meant to answer so. */
    static boolean isMeant(CorpusCase given, String listener, List<String> answers) {
        Otherwise otherwise = ALL.get(given.name());
        return otherwise != null && String.join(", ", answers).equals(otherwise.answers.get(listener));
    }

    /** A line for each case, with its reason. */
    static List<String> reasons() {
        return ALL.entrySet()
                .stream()
                .map(one -> one.getKey() + ": " + one.getValue().reason)
                .sorted()
                .toList();
    }
}
