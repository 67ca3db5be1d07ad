package dev.culvert.inbox.dispatch;

import dev.culvert.http.problem.Problem;
import dev.culvert.http.problem.Problem.Cause;
import dev.culvert.http.problem.Problem.Hop;
import dev.culvert.http.problem.ProblemDocument;
import dev.culvert.relay.WireProblem;
import io.netty.handler.codec.http2.Http2Headers;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** How an attempt ended. */
public sealed interface AttemptResult {
    /** What operators see. */
    String outcome();

    /** Whether it tells how quick the event source is: it answered, or did not in time. */
    default boolean wasAnswered() {
        return this instanceof Accepted || this instanceof Rejected || this instanceof Failed;
    }

    /** The event source has it. */
    record Accepted(String outcome) implements AttemptResult {}

    /** The event source refuses it for good. */
    record Rejected(String outcome) implements AttemptResult {}

    /**
     * It failed, and uses up an attempt.
     *
     * @param asked what the answer asked to wait; null: nothing
     */
    record Failed(String outcome, @Nullable Duration asked) implements AttemptResult {}

    /** It may have been sent, but nobody can say whether it arrived. Uses up no attempt, unless that goes on. */
    record Lost(String outcome) implements AttemptResult {}

    /**
     * Nothing was sent: the event source, or a part before it, takes nothing now. Uses up no attempt.
     *
     * @param nameless whether the cluster has no such name
     */
    record Refused(String outcome, boolean nameless) implements AttemptResult {}

    /**
     * Nothing was sent: the cluster's policy refuses it, which may be a mistake that its operator repairs. Uses up no attempt, and
     * is final when that goes on.
     */
    record Forbidden(String outcome) implements AttemptResult {}

    /** Nothing was sent: the runtime is not connected. Uses up no attempt. */
    record Away(String outcome) implements AttemptResult {}

    /**
     * What an answer means.
     *
     * @param body what came of it: only read to recognize the refusal of a router in its own pod
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

    /** What a problem on the way means. */
    static AttemptResult of(Problem problem) {
        String outcome = problem.cause().word();
        return switch (problem.cause()) {
            case NO_TUNNEL, UNKNOWN_HOST -> new Away(outcome);
            case TUNNEL_LOST -> new Lost(outcome);
            case UPSTREAM_REFUSED, DRAINING, OVERLOADED ->
                new Refused(outcome, problem.equals(WireProblem.NO_NAME));
            // A route may be missing for a moment, as in a reload: an operator's mistake must not kill webhooks.
            case NO_ROUTE, RATE_LIMITED, REQUEST_TIMEOUT -> new Failed(outcome, problem.retryAfter());
            case NOT_ALLOWED -> problem.hop() == Hop.ROUTER ? new Forbidden(outcome) : new Rejected(outcome);
            default ->
                problem.cause().status() / 100 == 4 ? new Rejected(outcome) : new Failed(outcome, null);
        };
    }

    /** The problem of an attempt that nobody answered in time. */
    static Problem late() {
        return Problem.of(Cause.UPSTREAM_TIMEOUT, Hop.UPSTREAM, "the event source did not answer in time");
    }

    /** The problem of an attempt whose body could not be read. */
    static Problem unreadable() {
        return Problem.of(Cause.INTERNAL, Hop.EDGE, "the stored body can't be read");
    }

    /** Only seconds are understood: a date would need the other's clock. */
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
