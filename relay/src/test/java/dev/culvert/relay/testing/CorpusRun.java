package dev.culvert.relay.testing;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** Sends a case of the corpus to an edge, and a request behind it that must be served, or must not. */
public final class CorpusRun {
    /** The path of the request behind a case. */
    public static final String BEHIND = "/behind";

    private CorpusRun() {}

    /** What the edge answers, the request behind it included. */
    public static List<String> answers(CorpusCase given, int port, String host) {
        return given.file().startsWith("h2-") ? http2(given, port, host) : http1(given, port, host);
    }

    private static List<String> http1(CorpusCase given, int port, String host) {
        try (TlsCaller caller = new TlsCaller(port)) {
            caller.send(given.bytes(host) + "GET " + BEHIND + " HTTP/1.1\r\nHost: " + host
                    + "\r\nConnection: close\r\n\r\n");
            return Answers.of(caller.readAll());
        }
    }

    private static List<String> http2(CorpusCase given, int port, String host) {
        try (CorpusHttp2 caller = new CorpusHttp2(port, host)) {
            return caller.answers(given);
        }
    }

    /** What {@link #answers} has to be. */
    public static List<String> expected(CorpusCase given) {
        return expected(given, given.answers());
    }

    /** The same, where a router with a route is behind the edge. */
    public static List<String> expectedRouted(CorpusCase given) {
        return expected(given, given.routed() == null ? given.answers() : given.routed());
    }

    private static List<String> expected(CorpusCase given, List<String> answers) {
        List<String> all = new ArrayList<>(answers);
        if (given.open()) {
            all.add("200");
        }
        if (given.file().startsWith("h2-")) {
            // RFC 9113 §8.1.1: a malformed request is a stream error, behind the answer
            answers.stream().filter("400 bad-request"::equals).forEach(_ -> all.add("reset PROTOCOL_ERROR"));
            Collections.sort(all);
        }
        return all;
    }

    /** The whole requests that a runtime has to see. */
    public static List<String> upstream(CorpusCase given) {
        return upstream(given, given.upstream());
    }

    /** The whole requests that an upstream behind a router has to see. */
    public static List<String> upstreamRouted(CorpusCase given) {
        return upstream(given, given.routed() == null ? given.upstream() : List.of());
    }

    private static List<String> upstream(CorpusCase given, List<String> expected) {
        List<String> all = new ArrayList<>(expected);
        if (given.open()) {
            all.add(SeenRequest.of("GET " + BEHIND).toString());
        }
        return all;
    }
}
