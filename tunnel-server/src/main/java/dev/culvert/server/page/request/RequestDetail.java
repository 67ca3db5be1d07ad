package dev.culvert.server.page.request;

import dev.culvert.relay.observe.RequestRecord;
import dev.culvert.web.Format;
import org.jspecify.annotations.Nullable;

/**
 * What the page of one request shows.
 *
 * @param line the request
 * @param waterfall its time by hops
 * @param guide what its problem means; null: it has none
 * @param curl the command that sends it again; null: it can't be
 */
public record RequestDetail(RequestLine line, Waterfall waterfall, ProblemGuide.@Nullable Section guide,
        @Nullable String curl) {
    private static final int CLIENT_ERROR = 400;

    static RequestDetail of(RequestRecord request, ProblemGuide guide) {
        String cause = request.cause();
        return new RequestDetail(new RequestLine(request), Waterfall.of(request),
                cause == null ? null : guide.of(cause), CurlCommand.of(request));
    }

    public RequestRecord request() {
        return line.request();
    }

    public String bytesIn() {
        return Format.bytes((double) request().bytesIn());
    }

    public String bytesOut() {
        return Format.bytes((double) request().bytesOut());
    }

    /** What the end means, in words, where no problem of the gateway tells. */
    public String meaning() {
        RequestRecord request = request();
        if (request.end().equals("caller-left")) {
            return request.status() == 0
                    ? "The caller left before there was a response."
                    : "The caller left before it had the whole response.";
        }
        if (request.end().equals("reset")) {
            return "The response was cut off behind its head, so that it does not look complete.";
        }
        return request.cause() == null && request.status() >= CLIENT_ERROR
                ? "The service itself answered this. The gateway passed it on untouched: look at the service's log."
                : "";
    }

    /** Where the time went, in one sentence. */
    public String verdict() {
        Waterfall.Bar longest = waterfall.longest();
        if (longest == null && Waterfall.isRefusal(request())) {
            return "The gateway answered in place of the service, after " + waterfall.total() + ".";
        }
        return longest == null
                ? ""
                : "Most of it, " + longest.percent() + " or " + longest.time() + ": " + longest.hop() + ", "
                        + longest.meaning() + ".";
    }
}
