package dev.culvert.platform.triggers.git;

import dev.culvert.platform.triggers.hermes.EventBody;
import java.util.List;

/** The webhooks of GitHub and Gitea. */
final class GithubPayloads {
    private GithubPayloads() {}

    static List<GitChange> changes(GitPayload payload) {
        return switch (payload.event()) {
            case "push" -> List.of(push(payload.body()));
            case "pull_request" -> List.of(pullRequest(payload.body()));
            default -> List.of();
        };
    }

    private static GitChange push(EventBody body) {
        String after = body.required("after");
        return GitChange.ofRef(body, "ref")
                .set("revision", after)
                .set("message", body.text("head_commit.message"))
                .set("author",
                        body.first("head_commit.author.username", "head_commit.author.name", "pusher.name",
                                "pusher.login"))
                .set("url", body.first("head_commit.url", "compare", "compare_url"))
                .set("sender", body.text("sender.login"))
                .forced(body.flag("forced"))
                .deleted(body.flag("deleted") || after.matches("0+"));
    }

    private static GitChange pullRequest(EventBody body) {
        return GitChange
                .ofPullRequest(body.text("pull_request.head.repo.full_name"),
                        body.required("pull_request.base.repo.full_name"))
                .set("action", body.required("action").replace("synchronized", "synchronize"))
                .set("number", body.first("number", "pull_request.number"))
                .set("title", body.text("pull_request.title"))
                .set("branch", body.required("pull_request.head.ref"))
                .set("base", body.required("pull_request.base.ref"))
                .set("revision", body.required("pull_request.head.sha"))
                .set("author", body.text("pull_request.user.login"))
                .set("url", body.text("pull_request.html_url"))
                .set("merged", String.valueOf(body.flag("pull_request.merged")))
                .set("sender", body.text("sender.login"));
    }
}
