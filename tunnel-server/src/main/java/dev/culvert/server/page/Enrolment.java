package dev.culvert.server.page;

import dev.culvert.web.Format;
import java.time.Instant;
import java.time.format.DateTimeParseException;

/**
 * The page that waits for a runtime. It shows a new enrolment token once.
 *
 * @param runtime the runtime's name
 * @param token the token; empty: it was shown before
 * @param expires until when it may be used
 * @param command what starts a client with it
 * @param state the runtime's state
 * @param live the position of the live updates
 * @param csrf the token of the session
 */
public record Enrolment(String runtime, String token, String expires, String command, RuntimeState state,
        String live, String csrf) {
    static Enrolment of(String runtime, String token, String expires, String server, RuntimeState state,
            String live, String csrf) {
        String name = runtime.substring(runtime.indexOf('/') + 1);
        String command = "(umask 077; cat > " + name + ".token) <<'EOF'\n" + token + "\nEOF\n"
                + "culvert client --server " + server + " --enrolment-token-file " + name
                + ".token --identity-dir " + name + "-identity --to http://127.0.0.1:3000";
        return new Enrolment(runtime, token, exact(expires), command, state, live, csrf);
    }

    /** The page without a token. */
    static Enrolment waiting(String runtime, RuntimeState state, String live, String csrf) {
        return new Enrolment(runtime, "", "", "", state, live, csrf);
    }

    /** The path by which one returns to this page, which has no token then. */
    public String path() {
        return "/runtimes/" + runtime + "/enrol";
    }

    private static String exact(String expires) {
        try {
            return Format.exact(Instant.parse(expires));
        } catch (DateTimeParseException e) {
            return expires;
        }
    }

    /** The topic of what the page waits for. */
    public String topic() {
        return topic(runtime);
    }

    static String topic(String runtime) {
        return "enrolled:" + runtime;
    }

    /** The path of its live updates. */
    public String livePath() {
        return "/live?since=" + live + "&topic=" + RuntimeList.encoded(topic());
    }
}
