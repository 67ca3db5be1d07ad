package dev.culvert.platform.triggers.git;

import dev.culvert.platform.triggers.hermes.EventBody;
import dev.culvert.platform.triggers.hermes.Variables;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** What happened in a repository: fields by the names that filters use. */
final class GitChange {
    private static final String BRANCHES = "refs/heads/";
    private static final String TAGS = "refs/tags/";
    private static final int SHORT_REVISION = 7;
    /** All fields and their variables together stay below the largest variables. */
    private static final int MAX_TEXT = 1 << 10;
    private static final List<String> SKIPS = List.of("[skip ci]", "[ci skip]", "[no ci]");
    /** The public platform's names of variables. */
    private static final Map<String, String> NAMES = Map.ofEntries(Map.entry("branch", "CF_BRANCH"),
            Map.entry("revision", "CF_REVISION"), Map.entry("message", "CF_COMMIT_MESSAGE"),
            Map.entry("author", "CF_COMMIT_AUTHOR"), Map.entry("url", "CF_COMMIT_URL"),
            Map.entry("owner", "CF_REPO_OWNER"), Map.entry("repo", "CF_REPO_NAME"),
            Map.entry("base", "CF_BASE_BRANCH"), Map.entry("action", "CF_PULL_REQUEST_ACTION"),
            Map.entry("number", "CF_PULL_REQUEST_NUMBER"), Map.entry("title", "CF_PULL_REQUEST_TITLE"),
            Map.entry("tag", "CF_RELEASE_TAG"));

    private final Map<String, String> fields = new LinkedHashMap<>();
    private @Nullable String whyNot;

    private GitChange(String event) {
        fields.put("event", event);
        fields.put("fork", "false");
        fields.put("forced", "false");
    }

    /** A change of a branch or tag, by its full name. Throws HandlerException BAD_REQUEST for other refs. */
    static GitChange ofRef(EventBody body, String path) {
        String ref = body.required(path);
        if (ref.startsWith(BRANCHES)) {
            return new GitChange("push").set("branch", ref.substring(BRANCHES.length()));
        }
        if (ref.startsWith(TAGS)) {
            return ofTag(ref.substring(TAGS.length()));
        }
        throw body.wrong(path, "another ref", BRANCHES + "… or " + TAGS + "…");
    }

    static GitChange ofBranch(String branch) {
        return new GitChange("push").set("branch", branch);
    }

    /** A tag counts as its own branch in variables, as in the public platform. */
    static GitChange ofTag(String tag) {
        return new GitChange("tag").set("tag", tag).set("branch", tag);
    }

    /**
     * A pull request.
     *
     * @param from the full name of the repository that it comes from; empty: it is not there any more
     * @param to the full name of the repository that it goes to
     */
    static GitChange ofPullRequest(String from, String to) {
        return new GitChange("pull_request").set("fork",
                String.valueOf(!from.toLowerCase(Locale.ROOT).equals(to.toLowerCase(Locale.ROOT))));
    }

    /** Sets a field; empty values are left out, long ones are cut. */
    GitChange set(String field, String value) {
        if (!value.isEmpty()) {
            fields.put(field, value.substring(0, Math.min(MAX_TEXT, value.length())));
        }
        return this;
    }

    GitChange forced(boolean isForced) {
        fields.put("forced", String.valueOf(isForced));
        return this;
    }

    /** Nothing starts for a branch or tag that is gone. */
    GitChange deleted(boolean isDeleted) {
        if (isDeleted) {
            whyNot = "the " + (fields.containsKey("tag") ? "tag" : "branch") + " was deleted";
        }
        return this;
    }

    /** The fields, with those of the repository. */
    Map<String, String> fields(String owner, String repo) {
        Map<String, String> all = new TreeMap<>(fields);
        all.put("owner", owner);
        all.put("repo", repo);
        return all;
    }

    /** The variables of these fields. */
    static Map<String, String> variables(Map<String, String> fields, String body) {
        Map<String, String> variables = Variables.of(fields, body);
        NAMES.forEach((field, name) -> {
            String value = fields.get(field);
            if (value != null) {
                variables.put(name, value);
            }
        });
        String revision = fields.getOrDefault("revision", "");
        if (!revision.isEmpty()) {
            variables.put("CF_SHORT_REVISION",
                    revision.substring(0, Math.min(SHORT_REVISION, revision.length())));
        }
        return variables;
    }

    /** Why nothing starts; null: it may. */
    @Nullable
    String whyNot() {
        if (whyNot != null) {
            return whyNot;
        }
        String message = fields.getOrDefault("message", "").toLowerCase(Locale.ROOT);
        return SKIPS.stream()
                .filter(message::contains)
                .findFirst()
                .map(skip -> "the commit message says " + skip)
                .orElse(null);
    }
}
