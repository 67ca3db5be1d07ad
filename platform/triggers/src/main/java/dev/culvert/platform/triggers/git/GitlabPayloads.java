package dev.culvert.platform.triggers.git;

import dev.culvert.platform.triggers.hermes.EventBody;
import java.util.List;
import java.util.Map;

/** The webhooks of GitLab. */
final class GitlabPayloads {
    /** GitHub's words for what happens to a merge request. */
    private static final Map<String, String> ACTIONS = Map.of("open", "opened", "close", "closed", "reopen",
            "reopened", "merge", "closed");

    private GitlabPayloads() {}

    static List<GitChange> changes(GitPayload payload) {
        return switch (payload.event()) {
            case "Push Hook", "Tag Push Hook" -> List.of(push(payload.body()));
            case "Merge Request Hook" -> List.of(mergeRequest(payload.body()));
            default -> List.of();
        };
    }

    private static GitChange push(EventBody body) {
        String after = body.required("after");
        GitChange change = GitChange.ofRef(body, "ref")
                .set("revision", body.first("checkout_sha", "after"))
                .set("author", body.first("user_username", "user_name"))
                .deleted(after.matches("0+"));
        for (EventBody commit : body.objects("commits")) {
            if (commit.text("id").equals(after)) {
                change.set("message", commit.text("message")).set("url", commit.text("url"));
            }
        }
        return change;
    }

    /** Only commits have an old revision: labels and titles are changed, too. */
    private static String update(EventBody body) {
        return body.text("object_attributes.oldrev").isEmpty() ? "edited" : "synchronize";
    }

    private static GitChange mergeRequest(EventBody body) {
        String action = body.text("object_attributes.action");
        return GitChange
                .ofPullRequest(body.text("object_attributes.source.path_with_namespace"),
                        body.required("object_attributes.target.path_with_namespace"))
                .set("action", action.equals("update") ? update(body) : ACTIONS.getOrDefault(action, action))
                .set("number", body.required("object_attributes.iid"))
                .set("title", body.text("object_attributes.title"))
                .set("branch", body.required("object_attributes.source_branch"))
                .set("base", body.required("object_attributes.target_branch"))
                .set("revision", body.required("object_attributes.last_commit.id"))
                .set("message", body.text("object_attributes.last_commit.message"))
                .set("author", body.first("user.username", "user.name"))
                .set("url", body.text("object_attributes.url"))
                .set("merged", String.valueOf(action.equals("merge")));
    }
}
