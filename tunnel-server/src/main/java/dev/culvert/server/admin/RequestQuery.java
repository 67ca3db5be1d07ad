package dev.culvert.server.admin;

import dev.culvert.config.Durations;
import dev.culvert.handlers.spi.EdgeRequest;
import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.handlers.spi.HandlerException.Reason;
import dev.culvert.http.problem.Problem.Cause;
import dev.culvert.http.problem.Problem.Hop;
import dev.culvert.relay.observe.RequestFilter;
import io.netty.handler.codec.http.QueryStringDecoder;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The query of calls that select requests. Wrong values are {@link Reason#BAD_REQUEST}. An empty value
 * selects all, as browsers send it for an empty field of a form.
 */
public final class RequestQuery {
    private static final int MAX_TEXT = 2048;

    private final Map<String, List<String>> parameters;

    public RequestQuery(Map<String, List<String>> parameters) {
        this.parameters = parameters;
    }

    static RequestQuery of(EdgeRequest request) {
        return new RequestQuery(new QueryStringDecoder(request.target()).parameters());
    }

    public RequestFilter filter() {
        return new RequestFilter(text("runtime"), text("path"), status(),
                word("cause", Cause.values(), Cause::word), word("hop", Hop.values(), Hop::word),
                duration("slowerThan"), flag("problems"));
    }

    /** Returns the value of a parameter; null if it is absent or empty. */
    public @Nullable String text(String name) {
        List<String> values = parameters.getOrDefault(name, List.of());
        String value = values.isEmpty() ? "" : values.getFirst().strip();
        if (value.length() > MAX_TEXT) {
            throw wrong(name, "at most " + MAX_TEXT + " characters");
        }
        return value.isEmpty() ? null : value;
    }

    /** Whether a parameter is {@code true}. */
    public boolean flag(String name) {
        String value = text(name);
        if (value == null || value.equals("false")) {
            return false;
        }
        if (value.equals("true")) {
            return true;
        }
        throw wrong(name, "true or false");
    }

    public int limit(int byDefault, int most) {
        String value = text("limit");
        if (value == null) {
            return byDefault;
        }
        try {
            int limit = Integer.parseInt(value);
            if (limit >= 1 && limit <= most) {
                return limit;
            }
        } catch (NumberFormatException e) {
            // reported below
        }
        throw wrong("limit", "1.." + most);
    }

    /** A status, as {@code 502}; a class, as {@code 5xx}; {@code 0} for none. */
    private @Nullable Integer status() {
        String value = text("status");
        if (value == null) {
            return null;
        }
        if (value.matches("[1-5]xx")) {
            return value.charAt(0) - '0';
        }
        if (value.matches("[1-5][0-9][0-9]|0")) {
            return Integer.valueOf(value);
        }
        throw wrong("status", "a status as 502, a class as 5xx, or 0 for callers who left first");
    }

    private @Nullable Duration duration(String name) {
        String value = text(name);
        if (value == null) {
            return null;
        }
        Duration duration = Durations.parse(value, Durations.MAX_DIGITS, ChronoUnit.MILLIS, ChronoUnit.HOURS);
        if (duration == null) {
            throw wrong(name, "a duration as 500ms or 2s");
        }
        return duration;
    }

    private <E> @Nullable E word(String name, E[] all, Function<E, String> wordOf) {
        String value = text(name);
        if (value == null) {
            return null;
        }
        for (E each : all) {
            if (wordOf.apply(each).equals(value)) {
                return each;
            }
        }
        throw wrong(name, Arrays.stream(all).map(wordOf).collect(Collectors.joining(", ")));
    }

    private static HandlerException wrong(String name, String expected) {
        return HandlerException.of(Reason.BAD_REQUEST, name + ": not a value (expected: " + expected + ")");
    }
}
