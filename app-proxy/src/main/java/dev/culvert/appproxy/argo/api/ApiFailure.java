package dev.culvert.appproxy.argo.api;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.handlers.spi.HandlerException.Reason;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;

/** A call to an API of the cluster failed. Carries no stack trace: it becomes a response. */
public final class ApiFailure extends RuntimeException {
    /** Statuses of our own: no connection, and no answer in time. */
    static final int UNREACHED = 0;
    static final int TIMED_OUT = -1;

    private static final long serialVersionUID = 1L;
    private static final JsonMapper MAPPER = new JsonMapper();
    private static final int MAX_TEXT = 400;
    private static final Duration SOON = Duration.ofSeconds(5);

    /** The messages of Argo's 500 responses whose real cause is the state of the object. */
    private static final List<String> OF_STATE = List.of("cannot shutdown a completed workflow",
            "cannot suspend completed workflows", "another operation is already in progress");

    private final String api;
    private final int status;

    public ApiFailure(String api, int status, String text) {
        super(text, null, false, false);
        this.api = api;
        this.status = status;
    }

    /** Reads an error response. Kubernetes and Argo both put the reason into {@code message}. */
    static ApiFailure of(String api, int status, byte[] body) {
        String text = new String(body, StandardCharsets.UTF_8);
        try {
            text = MAPPER.readTree(body).path("message").asText("");
        } catch (JsonProcessingException e) {
            text = "";
        } catch (java.io.IOException e) {
            throw new java.io.UncheckedIOException("reading from memory", e);
        }
        String line = text.replaceAll("\\p{Cntrl}+", " ");
        return new ApiFailure(api, status, line.length() > MAX_TEXT ? line.substring(0, MAX_TEXT) : line);
    }

    public boolean notFound() {
        return status == 404;
    }

    /** Whether another client changed the object in between. */
    boolean conflict() {
        return status == 409;
    }

    /** Returns the error for the caller. {@code what} names the object: {@code workflow argo/build}. */
    public HandlerException told(String what) {
        String text = String.valueOf(getMessage());
        if (status != 404 && (status == 400 || status == 409 || status == 412
                || OF_STATE.stream().anyMatch(text::contains))) {
            return HandlerException.of(Reason.CONFLICT, text.isEmpty() ? api + " answered " + status : text);
        }
        return switch (status) {
            case UNREACHED ->
                HandlerException.of(Reason.UNAVAILABLE, api + " can't be reached").retryAfter(SOON);
            case TIMED_OUT -> HandlerException.of(Reason.UPSTREAM_TIMEOUT, api + " did not answer in time");
            case 401, 403 -> HandlerException.of(Reason.UNAVAILABLE,
                    api + " refuses the App-Proxy's own credentials (" + status + ")");
            case 404 -> HandlerException.of(Reason.NOT_FOUND, "there is no " + what);
            case 429, 503 -> HandlerException.of(Reason.UNAVAILABLE, api + " is busy").retryAfter(SOON);
            default -> HandlerException.of(Reason.UPSTREAM_BAD_RESPONSE,
                    api + " answered " + status + (text.isEmpty() ? "" : ": " + text));
        };
    }
}
