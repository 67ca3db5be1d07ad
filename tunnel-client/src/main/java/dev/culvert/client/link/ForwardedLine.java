package dev.culvert.client.link;

import dev.culvert.relay.exchange.AccessLine;
import dev.culvert.relay.observe.LoggedText;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;

/**
 * A forwarded request as a line of the client's access log, with bounded texts. It has no query, which may
 * hold a secret.
 *
 * @param began the time of its head
 * @param requestId the request's id, which the server's log has too
 * @param path the path without the query
 * @param reason why the gateway answered; empty if it did not
 */
public record ForwardedLine(Instant began, String requestId, String method, String host, String path,
        int status, String reason, long totalMicros) implements AccessLine {
    private static final int MAX_PATH = 2048;
    private static final int MAX_TEXT = 256;

    /** The line of an exchange that ended now. */
    public static ForwardedLine of(EndedExchange exchange, Instant now) {
        return new ForwardedLine(now.minusNanos(exchange.nanos()).truncatedTo(ChronoUnit.MILLIS),
                text(exchange.requestId()),
                text(exchange.method()), text(exchange.host()), path(exchange.target()), exchange.status(),
                text(exchange.reason()), TimeUnit.NANOSECONDS.toMicros(exchange.nanos()));
    }

    @Override
    public void tell(BiConsumer<String, Object> line) {
        line.accept("began", began.toString());
        line.accept("requestId", requestId);
        line.accept("method", method);
        line.accept("host", host);
        line.accept("path", path);
        line.accept("status", status);
        if (!reason.isEmpty()) {
            line.accept("reason", reason);
        }
        line.accept("totalMicros", totalMicros);
    }

    private static String text(String value) {
        return LoggedText.of(value, MAX_TEXT);
    }

    private static String path(String target) {
        int query = target.indexOf('?');
        return LoggedText.of(query < 0 ? target : target.substring(0, query), MAX_PATH);
    }
}
