package dev.culvert.launcher.admin;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import java.io.Console;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/**
 * The webhooks of a command that changes many, and the calls that change them: one call for each few
 * thousands, until all are done.
 */
final class WebhookSelection {
    @Parameters(paramLabel = "ID", arity = "0..*", description = "A Culvert-Webhook-Id, or several.")
    private List<String> ids = List.of();
    @Option(names = "--runtime", arity = "2", paramLabel = "ACCOUNT NAME", description = "Those of this runtime. A router has only one, which is not named.")
    private List<String> runtime = List.of();
    @Option(names = "--source", paramLabel = "SOURCE", description = "Those of this event source, as argo/push.")
    private @Nullable String source;
    @Option(names = "--state", paramLabel = "pending|delivered|dead", description = "Those in this state.")
    private @Nullable String state;
    @Option(names = "--since", paramLabel = "TIME", description = "Those that died, were delivered or, if pending, were stored at this time or later, as 2026-11-25T12:00:00Z.")
    private @Nullable String since;
    @Option(names = "--until", paramLabel = "TIME", description = "Those that were before this time.")
    private @Nullable String until;
    @Option(names = "--dry-run", description = "Only count them.")
    private boolean dryRun;

    /** The id, if the selection is one webhook and nothing else; null: it is another. */
    @Nullable
    String one() {
        return ids.size() == 1 && !hasFilter() && !dryRun ? ids.getFirst() : null;
    }

    boolean hasIds() {
        return !ids.isEmpty();
    }

    /** Whether it names an event source or a state, and not only a time or a runtime. */
    boolean isSpecific() {
        return hasIds() || source != null || state != null;
    }

    boolean hasFilter() {
        return source != null || state != null || since != null || until != null || !runtime.isEmpty();
    }

    boolean isDryRun() {
        return dryRun;
    }

    /**
     * Sends calls until all webhooks are changed. Returns the response to the first that fails, or one that
     * counts those of all calls.
     *
     * @param counted the member of the response that counts them
     */
    AdminClient.Answer change(AdminClient api, String path, String counted) {
        if (dryRun) {
            return count(api, path);
        }
        Map<String, Object> body = body();
        long changed = 0;
        long skipped = 0;
        while (true) {
            AdminClient.Answer answer = api.call("POST", path, body);
            if (!answer.ok()) {
                if (changed > 0) {
                    System.err.println("culvert: " + counted + " " + changed + " before that");
                }
                return answer;
            }
            changed += answer.json().path(counted).asLong();
            skipped += answer.json().path("skipped").asLong();
            if (!answer.json().path("next").isTextual()) {
                return counting(answer.status(), counted, changed, skipped);
            }
            body.put("next", answer.json().path("next").asText());
        }
    }

    private static AdminClient.Answer counting(int status, String counted, long changed, long skipped) {
        var json = JsonNodeFactory.instance.objectNode()
                .put(counted, changed)
                .put("skipped", skipped)
                .putNull("next");
        return new AdminClient.Answer(status, json.toString(), json);
    }

    private AdminClient.Answer count(AdminClient api, String path) {
        Map<String, Object> body = body();
        body.put("dryRun", true);
        return api.call("POST", path, body);
    }

    /**
     * Asks at a terminal whether the webhooks are to be changed, with their number. True without a terminal,
     * as in scripts, and if there are none.
     */
    @SuppressWarnings("SystemConsoleNull") // it is null without a terminal, unless -Djdk.console says otherwise
    boolean isConfirmed(AdminClient api, String path, String question) {
        Console console = System.console();
        if (dryRun || console == null || !console.isTerminal()) {
            return true;
        }
        long matched = count(api, path).json().path("matched").asLong();
        if (matched == 0) {
            return true;
        }
        String reply = console.readLine("%s %d webhooks? [y/N] ", question, matched);
        return reply != null && reply.strip().toLowerCase(Locale.ROOT).startsWith("y");
    }

    private Map<String, Object> body() {
        Map<String, Object> body = new LinkedHashMap<>();
        if (hasIds()) {
            body.put("ids", ids);
        }
        if (runtime.size() == 2) {
            body.put("account", runtime.getFirst());
            body.put("name", runtime.getLast());
        }
        put(body, "source", source);
        put(body, "state", state);
        put(body, "since", since);
        put(body, "until", until);
        return body;
    }

    private static void put(Map<String, Object> body, String key, @Nullable String value) {
        if (value != null) {
            body.put(key, value);
        }
    }
}
