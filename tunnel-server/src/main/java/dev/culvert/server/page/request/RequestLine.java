package dev.culvert.server.page.request;

import dev.culvert.relay.observe.RequestRecord;
import dev.culvert.web.Format;
import org.jspecify.annotations.Nullable;

/**
 * A row of the list of requests.
 *
 * @param request what it shows
 */
public record RequestLine(RequestRecord request) {
    private static final int CLIENT_ERROR = 400;
    private static final int SHORT_ADDRESS = "255.255.255.255".length();
    private static final int SERVER_ERROR = 500;

    /** The id of the element. */
    public String element() {
        return "request-" + request.id();
    }

    public String path() {
        return "/requests/" + request.id();
    }

    /** The path of its runtime's page; null: nobody has the host, or it is the platform. */
    public @Nullable String runtimePath() {
        return request.runtime().indexOf('/') > 0 ? "/runtimes/" + request.runtime() : null;
    }

    /** A short address is not broken into lines. */
    public String callerClass() {
        return request.caller().length() <= SHORT_ADDRESS ? "nowrap" : "";
    }

    /** The status; a dash: the caller left before there was one. */
    public String status() {
        return request.status() == 0 ? Format.NONE : Integer.toString(request.status());
    }

    /** The class of its style. */
    public String tone() {
        if (request.end().equals("reset") || request.status() >= SERVER_ERROR) {
            return "bad";
        }
        return request.status() == 0 || request.status() >= CLIENT_ERROR ? "warn" : "good";
    }

    /** How it ended, unless it was complete. */
    public String ending() {
        return switch (request.end()) {
            case "reset" -> "cut off";
            case "caller-left" -> "caller left";
            default -> "";
        };
    }

    /** The time of the day in UTC, with milliseconds. */
    public String clock() {
        String began = request.began();
        int from = began.indexOf('T') + 1;
        String time = began.substring(from, began.length() - 1);
        return time.length() == "00:00:00".length()
                ? time + ".000"
                : time.substring(0, Math.min(12, time.length()));
    }

    public String took() {
        return Waterfall.seconds(request.totalMicros());
    }

    /** The hop that took the most of the time, and its share; empty: none. */
    public String mostly() {
        Waterfall.Bar longest = Waterfall.of(request).longest();
        return longest == null ? "" : longest.hop() + " " + longest.percent();
    }

    /** The link to what its problem means; null: it has none. */
    public @Nullable String guide() {
        return request.cause() == null ? null : "/problems#" + request.cause();
    }
}
