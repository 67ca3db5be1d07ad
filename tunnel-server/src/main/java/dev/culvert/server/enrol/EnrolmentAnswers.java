package dev.culvert.server.enrol;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.culvert.certs.CertsException;
import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.http.problem.EdgeException;
import dev.culvert.http.problem.Problem;
import dev.culvert.http.problem.Problem.Cause;
import dev.culvert.http.problem.Problem.Hop;
import dev.culvert.server.runtime.RuntimeName;
import dev.culvert.server.runtime.RuntimeStore;
import dev.culvert.store.StoreException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Makes the responses of enrolment and renewal: JSON, or the problem of an error. */
final class EnrolmentAnswers {
    /** The advice for operators with an invalid token or identity. */
    static final String NEW_TOKEN = "; make a new token with: culvert runtime enrol-token ACCOUNT NAME";
    private static final Logger log = LoggerFactory.getLogger(EnrolmentAnswers.class);
    private static final JsonMapper JSON = new JsonMapper();
    private static final Duration RETRY = Duration.ofSeconds(1);

    private EnrolmentAnswers() {}

    /** {@link #NEW_TOKEN} with the runtime's name, for clients that have proven to know it. */
    static String newToken(RuntimeName name) {
        return "; make a new token with: culvert runtime enrol-token " + name.account() + " " + name.name();
    }

    static EnrolmentAnswer of(int status, Record view) {
        try {
            return EnrolmentAnswer.json(status, JSON.writeValueAsBytes(view));
        } catch (JsonProcessingException e) {
            throw new UncheckedIOException("records of strings always render", e);
        }
    }

    static EdgeException refused(Cause cause, String detail) {
        return new EdgeException(Problem.of(cause, Hop.TUNNEL, detail));
    }

    /** The refusal of a nonce. It is not the client's fault; the client requests another nonce. */
    static EdgeException startAgain() {
        return new EdgeException(Problem.of(Cause.CONFLICT, Hop.TUNNEL,
                "nonce: unknown, used or older than " + EnrolmentNonces.LIFE.toSeconds()
                        + " s; ask for another and try again")
                .retryAfter(RETRY));
    }

    /**
     * Throws {@link StoreException.Held} if another server may have the database. That one knows tokens,
     * runtimes and nonces that are unknown here, so no refusal would be final.
     */
    static void refuseAfterRelease(RuntimeStore store) {
        if (store.isReleased()) {
            throw new StoreException.Held("another server may have the database");
        }
    }

    /** The problem of any error. Unexpected errors are logged. */
    static Problem problem(Throwable error, InetSocketAddress remote) {
        @Nullable
        Problem problem = switch (error) {
            case EdgeException refused -> refused.problem();
            case HandlerException wrong -> Problem.of(Cause.BAD_REQUEST, Hop.TUNNEL, wrong.detail());
            case CertsException wrong -> Problem.of(Cause.BAD_REQUEST, Hop.TUNNEL, detail(wrong));
            case StoreException.Conflict used -> unauthorized(used);
            case StoreException.Absent gone -> unauthorized(gone);
            case StoreException.Busy busy -> overloaded();
            case StoreException.Held held -> Problem
                    .of(Cause.DRAINING, Hop.TUNNEL, "this server is stopping; try again")
                    .retryAfter(RETRY);
            case RejectedExecutionException full -> overloaded();
            default -> null;
        };
        if (problem == null) {
            log.atError().addKeyValue("remote", remote).setCause(error).log("enrolment failed");
            return Problem.of(Cause.INTERNAL, Hop.TUNNEL, "the server could not answer").retryAfter(RETRY);
        }
        log.atDebug()
                .addKeyValue("remote", remote)
                .addKeyValue("cause", problem.cause().word())
                .addKeyValue("detail", problem.detail())
                .log("enrolment refused");
        return problem;
    }

    private static Problem unauthorized(StoreException error) {
        return Problem.of(Cause.UNAUTHORIZED, Hop.TUNNEL, detail(error) + NEW_TOKEN);
    }

    private static Problem overloaded() {
        return Problem.of(Cause.OVERLOADED, Hop.TUNNEL, "too many enrolments wait").retryAfter(RETRY);
    }

    private static String detail(Throwable error) {
        String message = error.getMessage();
        return message == null ? "" : message;
    }
}
