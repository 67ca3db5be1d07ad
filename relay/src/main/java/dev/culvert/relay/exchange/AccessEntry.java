package dev.culvert.relay.exchange;

import dev.culvert.http.problem.Problem;
import dev.culvert.relay.observe.EndedRequest;
import dev.culvert.relay.observe.LoggedText;
import dev.culvert.relay.observe.RequestRecord;
import dev.culvert.relay.tls.KeyExchange;
import java.time.Instant;
import java.util.Locale;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * One line of the access log. It never contains a query, a cookie or {@code Authorization}, which may hold
 * secrets.
 *
 * @param endedMillis the end of the exchange, in milliseconds since 1970
 * @param runtime {@code account/name}; empty if no runtime has the host
 * @param tls what the caller's connection agreed on; null: it has no TLS
 * @param onward the same of the connection that the request took from here; null: no TLS, or no connection
 * @param status the status; 0: the caller left before a response
 * @param bytesIn the length of the request's body
 * @param bytesOut the length of the response's body
 * @param totalMicros the time from the complete head to the end of the exchange
 */
record AccessEntry(long endedMillis, CharSequence requestId, String runtime, RequestFacts facts,
        @Nullable KeyExchange tls, @Nullable KeyExchange onward, int status,
        @Nullable Problem problem, long bytesIn, long bytesOut, End end, HopTimings times, long totalMicros)
        implements
            EndedRequest,
            AccessLine {
    static final int MAX_PATH = 2048;
    static final int MAX_TEXT = 256;

    /** The ways in which an exchange ends. */
    enum End {
        /** Both sides received their complete message. */
        COMPLETE,
        /** The caller disconnected before it had the response. */
        CALLER_LEFT,
        /** The response was aborted, so that it does not look complete. */
        RESET;

        String word() {
            return name().toLowerCase(Locale.ROOT).replace('_', '-');
        }
    }

    @Override
    public void tell(BiConsumer<String, Object> line) {
        line.accept("began", began());
        line.accept("requestId", LoggedText.of(requestId, MAX_TEXT));
        line.accept("runtime", runtime);
        line.accept("caller", facts.caller());
        line.accept("method", LoggedText.of(facts.method(), MAX_TEXT));
        line.accept("host", LoggedText.of(facts.host(), MAX_TEXT));
        line.accept("path", LoggedText.of(facts.target(), MAX_PATH));
        line.accept("protocol", facts.protocol());
        line.accept("tls", text(tls));
        line.accept("onwardTls", text(onward));
        line.accept("status", status);
        Problem cause = problem;
        if (cause != null) {
            line.accept("cause", cause.cause().word());
            line.accept("hop", cause.hop().word());
        }
        line.accept("end", end.word());
        line.accept("bytesIn", bytesIn);
        line.accept("bytesOut", bytesOut);
        line.accept("userAgent", LoggedText.of(facts.userAgent(), MAX_TEXT));
        line.accept("queueMicros", times.queueMicros());
        line.accept("bodyMicros", times.bodyMicros());
        line.accept("windowMicros", times.windowMicros());
        line.accept("tunnelMicros", times.tunnelMicros());
        line.accept("routerMicros", times.routerMicros());
        line.accept("upstreamMicros", times.upstreamMicros());
        line.accept("totalMicros", totalMicros);
    }

    private static String text(@Nullable KeyExchange tls) {
        return tls == null ? "-" : tls.toString();
    }

    private String began() {
        return Instant.ofEpochMilli(endedMillis - totalMicros / 1000).toString();
    }

    @Override
    public String caller() {
        return facts.caller();
    }

    @Override
    public CharSequence path() {
        return facts.target();
    }

    @Override
    public int textLength() {
        return requestId.length() + runtime.length() + facts.length()
                + (problem == null ? 0 : problem.detail().length());
    }

    @Override
    public RequestRecord toRecord(String id) {
        Problem cause = problem;
        return new RequestRecord(id, began(), LoggedText.of(requestId, MAX_TEXT), runtime, facts.caller(),
                LoggedText.of(facts.method(), MAX_TEXT), LoggedText.of(facts.host(), MAX_TEXT),
                LoggedText.of(facts.target(), MAX_PATH), facts.protocol(), text(tls), text(onward), status,
                cause == null ? null : cause.cause().word(), cause == null ? null : cause.hop().word(),
                cause == null ? null : LoggedText.of(cause.detail(), MAX_TEXT), end.word(), bytesIn, bytesOut,
                LoggedText.of(facts.userAgent(), MAX_TEXT), times.queueMicros(), times.bodyMicros(),
                times.windowMicros(), times.tunnelMicros(), times.routerMicros(), times.upstreamMicros(),
                totalMicros);
    }
}
