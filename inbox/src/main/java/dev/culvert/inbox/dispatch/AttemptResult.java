package dev.culvert.inbox.dispatch;

import dev.culvert.http.problem.Problem;
import dev.culvert.http.problem.Problem.Cause;
import dev.culvert.http.problem.Problem.Hop;
import dev.culvert.http.problem.ProblemDocument;
import dev.culvert.inbox.model.Naming;
import dev.culvert.relay.WireProblem;
import io.netty.handler.codec.http2.Http2Headers;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** The result of an attempt. */
public sealed interface AttemptResult {
    /** The description that operators see. */
    String outcome();

    /** Whether the result shows the speed of the event source: it responded, or timed out. */
    default boolean wasAnswered() {
        return this instanceof Accepted || this instanceof Rejected || this instanceof Failed;
    }

    /**
     * Returns what the result shows about the event source's name; null: nothing. A refused connection shows
     * little, because it may be that of a router in its own pod.
     */
    default @Nullable Naming naming() {
        return switch (this) {
            case Refused refused when refused.nameless() -> Naming.NAMELESS;
            case Refused refused ->
                refused.outcome().equals(Cause.UPSTREAM_REFUSED.word()) ? Naming.UNCLEAR : null;
            // A router in its own pod answers 502, 503 and 504 for sources that are not there.
            case Failed failed -> failed.outcome().equals("500") ? Naming.RESOLVED : Naming.UNCLEAR;
            default -> null;
        };
    }

    /** The event source accepted the webhook. */
    record Accepted(String outcome) implements AttemptResult {}

    /** The event source refused the webhook for good. */
    record Rejected(String outcome) implements AttemptResult {}

    /**
     * The attempt failed and counts.
     *
     * @param asked the wait that the response requested; null: none
     */
    record Failed(String outcome, @Nullable Duration asked) implements AttemptResult {}

    /**
     * The webhook may have been sent, but its arrival is unknown. Does not count as an attempt, unless that
     * happens repeatedly.
     */
    record Lost(String outcome) implements AttemptResult {}

    /**
     * Nothing was sent: the event source, or a hop before it, accepts nothing now. Does not count as an
     * attempt.
     *
     * @param nameless whether the cluster's DNS answered that there is no such source
     */
    record Refused(String outcome, boolean nameless) implements AttemptResult {}

    /**
     * Nothing was sent: the cluster's policy refuses the webhook, possibly by a mistake that its operator
     * repairs. Does not count as an attempt. It becomes final if refusals continue.
     */
    record Forbidden(String outcome) implements AttemptResult {}

    /** Nothing was sent: the runtime is not connected. Does not count as an attempt. */
    record Away(String outcome) implements AttemptResult {}

    /**
     * Interprets a response.
     *
     * @param body the body as far as received; read only to recognise the refusal of a router in its own pod
     */
    static AttemptResult of(Http2Headers head, byte[] body) {
        int status = Integer.parseInt(String.valueOf(head.status()));
        if (status == Cause.NOT_ALLOWED.status() && isProblem(head)
                && ProblemDocument.says(body, Cause.NOT_ALLOWED, Hop.ROUTER)) {
            return new Forbidden(Cause.NOT_ALLOWED.word());
        }
        CharSequence retryAfter = head.get("retry-after");
        return of(status, retryAfter == null ? null : retryAfter.toString());
    }

    private static boolean isProblem(Http2Headers head) {
        CharSequence type = head.get("content-type");
        return type != null && type.toString().startsWith(Problem.MEDIA_TYPE);
    }

    private static AttemptResult of(int status, @Nullable String retryAfter) {
        String outcome = Integer.toString(status);
        return switch (status) {
            case 408, 425 -> new Failed(outcome, null);
            case 429, 503 -> new Failed(outcome, seconds(retryAfter));
            default -> status >= 200 && status < 300
                    ? new Accepted(outcome)
                    : status >= 400 && status < 500 ? new Rejected(outcome) : new Failed(outcome, null);
        };
    }

    /** Interprets a problem of a hop on the way. */
    static AttemptResult of(Problem problem) {
        String outcome = problem.cause().word();
        return switch (problem.cause()) {
            case NO_TUNNEL, UNKNOWN_HOST -> new Away(outcome);
            case TUNNEL_LOST -> new Lost(outcome);
            case UPSTREAM_REFUSED, DRAINING, OVERLOADED ->
                new Refused(outcome, problem.equals(WireProblem.NO_NAME));
            // A route may be missing briefly, as during a reload: an operator's mistake must not kill
            // webhooks.
            case NO_ROUTE, RATE_LIMITED, REQUEST_TIMEOUT -> new Failed(outcome, problem.retryAfter());
            case NOT_ALLOWED -> problem.hop() == Hop.ROUTER ? new Forbidden(outcome) : new Rejected(outcome);
            default ->
                problem.cause().status() / 100 == 4 ? new Rejected(outcome) : new Failed(outcome, null);
        };
    }

    /** Returns the problem of an attempt without a response in time. */
    static Problem late() {
        return Problem.of(Cause.UPSTREAM_TIMEOUT, Hop.UPSTREAM, "the event source did not answer in time");
    }

    /** Returns the problem of an attempt whose body could not be read. */
    static Problem unreadable() {
        return Problem.of(Cause.INTERNAL, Hop.EDGE, "the stored body can't be read");
    }

    /** Parses a wait in seconds. A date is ignored, because it would depend on the other side's clock. */
    private static @Nullable Duration seconds(@Nullable String retryAfter) {
        try {
            return retryAfter == null
                    ? null
                    : Duration.ofSeconds(Math.clamp(Long.parseLong(retryAfter.strip()), 0, 86_400));
        } catch (NumberFormatException date) {
            return null;
        }
    }
}
