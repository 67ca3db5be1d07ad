package dev.culvert.relay.outbound;

import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.relay.quota.CallerLimits;
import dev.culvert.relay.testing.AnswerCase;
import dev.culvert.relay.testing.Answers;
import dev.culvert.relay.testing.EdgeFixture;
import dev.culvert.relay.testing.TlsCaller;
import dev.culvert.relay.upstream.RouteFigures;
import dev.culvert.relay.upstream.UpstreamAddress;
import dev.culvert.relay.upstream.UpstreamCall;
import dev.culvert.relay.upstream.UpstreamLimits;
import dev.culvert.relay.upstream.UpstreamNames;
import dev.culvert.relay.upstream.UpstreamTrust;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * An upstream answers one of two callers ambiguously, on a connection that was kept: that caller gets 502 once, the other one
 * its own answer, and the connection is closed.
 */
class AnswerCorpusIT {
    private static final List<AnswerCase> CASES = AnswerCase.all();
    private static final HostileUpstream UPSTREAM = new HostileUpstream(CASES);
    private static final Upstreams UPSTREAMS = new Upstreams(UpstreamLimits.defaults(), UpstreamNames.DNS,
            UpstreamTrust.NONE);
    private static final EdgeFixture EDGE = new EdgeFixture(CallerLimits.defaults(),
            (request, response) -> UPSTREAMS.open(request,
                    new UpstreamCall(new UpstreamAddress(false, false, "127.0.0.1", UPSTREAM.port()),
                            String.valueOf(request.fields().path()), RouteFigures.uncounted("test")),
                    response));

    private static TlsCaller asker = EDGE.caller();
    private static final TlsCaller OTHER = EDGE.caller();

    @AfterAll
    static void stop() throws IOException {
        asker.close();
        OTHER.close();
        UPSTREAMS.close();
        EDGE.close();
        UPSTREAM.close();
    }

    @BeforeEach
    void forget() {
        UPSTREAM.closed.clear();
    }

    static IntStream cases() {
        return IntStream.range(0, CASES.size());
    }

    @Test
    void theCorpusIsWhole() {
        assertThat(CASES).hasSizeGreaterThan(150);
        assertThat(CASES.stream().map(AnswerCase::toString)).doesNotHaveDuplicates();
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("cases")
    void reachesNobodyElse(int number) throws InterruptedException {
        AnswerCase given = CASES.get(number);
        boolean cut = given.expect().equals("cut");

        asker.get("/kept").readUntil("\r\n\r\n/kept");
        asker.send(request(given.method(), "/case/" + number) + request("GET", "/behind"));
        OTHER.send(request("GET", "/other"));
        String theirs = OTHER.readUntil("\r\n\r\n/other");
        String its = cut ? asker.readAll() : asker.readUntil("\r\n\r\n/behind");

        assertThat(Answers.of(theirs)).containsExactly("200");
        assertThat(its).doesNotContain("POISON");
        requireExpected(given, its);
        assertThat(UPSTREAM.closed.poll(20, TimeUnit.SECONDS)).as("%s: what follows on its connection", given)
                .isEmpty();
        if (cut) {
            asker.close();
            asker = EDGE.caller();
        }
    }

    private static void requireExpected(AnswerCase given, String its) {
        switch (given.expect()) {
            case "502" -> assertThat(statuses(given, its)).as("%s", given)
                    .containsExactly(given.method().equals("HEAD") ? "502" : "502 upstream-bad-response",
                            "200");
            case "cut" -> assertThat(its).as("%s", given).endsWith("<reset>").doesNotContain("/behind");
            case "whole" ->
                assertThat(its).as("%s", given).startsWith("HTTP/1.1" + given.bytes().substring(8, 12));
            default -> throw new IllegalStateException(given.expect());
        }
    }

    /** The statuses of what came. A response to HEAD declares a length and has no body. */
    private static List<String> statuses(AnswerCase given, String its) {
        return Answers
                .of(given.method().equals("HEAD")
                        ? its.replaceFirst("(?i)content-length: \\d+\r\n", "")
                        : its);
    }

    private static String request(String method, String path) {
        return method + " " + path + " HTTP/1.1\r\nHost: " + EdgeFixture.HOST + "\r\n\r\n";
    }
}
