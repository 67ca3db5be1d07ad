package dev.culvert.benchmarks.compare;

import dev.culvert.benchmarks.load.Kind;
import dev.culvert.benchmarks.load.LoadPlan;
import dev.culvert.benchmarks.target.Target;
import dev.culvert.config.ByteSize;
import dev.culvert.config.ConfigException;
import dev.culvert.config.Setting;
import java.time.Duration;
import java.util.List;

/**
 * One load of a scenario, measured once for each number of callers.
 *
 * @param name the name in tables and results
 * @param kind what an exchange is
 * @param path of the resource, as the upstream knows it
 * @param callers the exchanges under way at once, as decimal numbers; in an open loop the most
 * @param rate arrivals a second; 0: a closed loop
 * @param bytes of a request's body or of a WebSocket's message; 0 for the other kinds
 * @param http2 whether callers speak HTTP/2
 * @param time the measured time of one turn
 * @param beside loads that burden the target at the same time
 */
public record ScenarioLoad(
        @Setting(value = "Name in tables and results", accepts = "a word of a-z, 0-9 and -, as small-gets, each once") String name,
        @Setting("What an exchange is") Kind kind,
        @Setting(value = "Path of the resource at the upstream", accepts = "a path as /f") String path,
        @Setting(value = "Exchanges under way at once; each number is a measurement of its own", accepts = CALLERS) List<String> callers,
        @Setting(value = "New exchanges a second, whether earlier ones were answered or not; 0: each caller asks again when it is answered", byDefault = "0", accepts = "0..1000000; 0 for kind events, whose path has the rate") long rate,
        @Setting(value = "Size of the body or message that callers send", byDefault = "0", accepts = BYTES) ByteSize bytes,
        @Setting(value = "Whether callers speak HTTP/2", byDefault = "false", accepts = "true or false; false for kinds websocket and events") boolean http2,
        @Setting(value = "Measured time of one turn", byDefault = "3s", accepts = "100ms..1h") Duration time,
        @Setting(value = "Loads that burden the target at the same time", accepts = "a list of loads, each with kind, path and callers", fileOnly = true) List<BesideLoad> beside) {

    static final int MAX_CALLERS = 1000;
    static final String BYTES = "1..1GiB for kinds upload, webhook and websocket; none for the others";

    private static final String CALLERS = "numbers 1..1000, as [1, 32, 256]";
    private static final long MAX_RATE = 1_000_000;
    private static final long MAX_BYTES = 1L << 30;
    private static final Duration MIN_TIME = Duration.ofMillis(100);
    private static final Duration MAX_TIME = Duration.ofHours(1);

    public ScenarioLoad {
        callers = List.copyOf(callers);
        beside = List.copyOf(beside);
        require(name.matches("[a-z0-9][a-z0-9-]{0,39}"), "name",
                "a word of a-z, 0-9 and -, as small-gets, each once");
        require(kind != Kind.STALLED, "kind", "another one: stalled only beside a load");
        requireValid(kind, path, bytes);
        require(!callers.isEmpty() && callers.stream().allMatch(ScenarioLoad::isCount), "callers", CALLERS);
        require(rate >= 0 && rate <= (kind == Kind.EVENTS ? 0 : MAX_RATE), "rate",
                "0..1000000; 0 for kind events, whose path has the rate");
        require(!http2 || kind != Kind.WEBSOCKET && kind != Kind.EVENTS, "http2",
                "false for kinds websocket and events");
        require(time.compareTo(MIN_TIME) >= 0 && time.compareTo(MAX_TIME) <= 0, "time", "100ms..1h");
    }

    /** What all loads have in common. */
    static void requireValid(Kind kind, String path, ByteSize bytes) {
        require(path.startsWith("/") && path.matches("[!-~]+"), "path", "a path as /f");
        if (kind.sends()) {
            require(bytes.bytes() > 0 && bytes.bytes() <= MAX_BYTES, "bytes", "1..1GiB for this kind");
        } else {
            require(bytes.bytes() == 0, "bytes", "none for this kind");
        }
    }

    /** The numbers of callers, each of which is measured. */
    List<Integer> callerCounts() {
        return callers.stream().map(Integer::valueOf).toList();
    }

    /** The plan of a turn of a target. */
    LoadPlan plan(Target target, int count, Duration warmUp, Duration measured) {
        return new LoadPlan(target.url(path), target.host(), kind, http2, (int) bytes.bytes(), count, rate,
                warmUp, measured);
    }

    private static boolean isCount(String text) {
        return text.matches("[1-9][0-9]{0,3}") && Integer.parseInt(text) <= MAX_CALLERS;
    }

    private static void require(boolean valid, String key, String expected) {
        if (!valid) {
            throw new ConfigException(key, expected);
        }
    }
}
