package dev.culvert.benchmarks;

import dev.culvert.benchmarks.process.BenchException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The output of wrk with {@code --latency}.
 *
 * @param requests the number of answered requests
 * @param perSecond the requests a second that wrk reports
 * @param p50Millis median latency
 * @param p99Millis 99th percentile
 */
record WrkResult(long requests, double perSecond, double p50Millis, double p99Millis) {
    private static final Pattern REQUESTS = Pattern.compile("(\\d+) requests in");
    private static final Pattern PER_SECOND = Pattern.compile("Requests/sec:\\s+([0-9.]+)");
    private static final Pattern P50 = Pattern.compile("50%\\s+([0-9.]+)(us|ms|s|m)");
    private static final Pattern P99 = Pattern.compile("99%\\s+([0-9.]+)(us|ms|s|m)");
    private static final Pattern TROUBLE = Pattern
            .compile("(Non-2xx or 3xx responses: \\d+|Socket errors: [^\n]+)");

    /**
     * Parses wrk's output. Throws BenchException for other output and for a run with errors or without
     * an answer, which is invalid.
     */
    static WrkResult parse(String output) {
        Matcher trouble = TROUBLE.matcher(output);
        if (trouble.find()) {
            throw BenchException.failed("wrk met errors: " + trouble.group(1));
        }
        long requests = Long.parseLong(find(REQUESTS, output).group(1));
        if (requests == 0) {
            throw BenchException.failed("wrk got no answer:\n" + output);
        }
        return new WrkResult(requests,
                Double.parseDouble(find(PER_SECOND, output).group(1)), millis(find(P50, output)),
                millis(find(P99, output)));
    }

    private static Matcher find(Pattern pattern, String output) {
        Matcher matcher = pattern.matcher(output);
        if (!matcher.find()) {
            throw BenchException.failed("wrk's output is not what was expected:\n" + output);
        }
        return matcher;
    }

    private static double millis(Matcher matcher) {
        double value = Double.parseDouble(matcher.group(1));
        return switch (matcher.group(2)) {
            case "us" -> value / 1000;
            case "ms" -> value;
            case "s" -> value * 1000;
            default -> value * 60_000;
        };
    }
}
