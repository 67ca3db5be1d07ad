package dev.culvert.platform.triggers.git;

import dev.culvert.platform.triggers.hermes.EventBody;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** The webhooks of Bitbucket Cloud. One push may change several branches. */
final class BitbucketPayloads {
    /** GitHub's words for what happens to a pull request. */
    private static final Map<String, String> ACTIONS = Map.of("pullrequest:created", "opened",
            "pullrequest:updated", "synchronize", "pullrequest:fulfilled", "closed", "pullrequest:rejected",
            "closed");

    private BitbucketPayloads() {}

    static List<GitChange> changes(GitPayload payload) {
        if (payload.event().equals("repo:push")) {
            List<GitChange> changes = new ArrayList<>();
            for (EventBody change : payload.body().objects("push.changes")) {
                changes.add(push(payload.body(), change));
            }
            return changes;
        }
        String action = ACTIONS.get(payload.event());
        return action == null ? List.of() : List.of(pullRequest(payload, action));
    }

    private static GitChange push(EventBody body, EventBody change) {
        boolean isDeleted = !change.has("new");
        String side = isDeleted ? "old" : "new";
        String name = change.required(side + ".name");
        GitChange made = change.required(side + ".type").endsWith("tag")
                ? GitChange.ofTag(name)
                : GitChange.ofBranch(name);
        return made.set("revision", change.required(side + ".target.hash"))
                .set("message", change.text(side + ".target.message"))
                .set("author", change.first(side + ".target.author.user.nickname",
                        side + ".target.author.raw"))
                .set("url", change.text(side + ".target.links.html.href"))
                .set("sender", body.text("actor.nickname"))
                .forced(change.flag("forced"))
                .deleted(isDeleted);
    }

    private static GitChange pullRequest(GitPayload payload, String action) {
        EventBody body = payload.body();
        return GitChange
                .ofPullRequest(body.text("pullrequest.source.repository.full_name"),
                        body.required("pullrequest.destination.repository.full_name"))
                .set("action", action)
                .set("number", body.required("pullrequest.id"))
                .set("title", body.text("pullrequest.title"))
                .set("branch", body.required("pullrequest.source.branch.name"))
                .set("base", body.required("pullrequest.destination.branch.name"))
                .set("revision", body.required("pullrequest.source.commit.hash"))
                .set("author", body.first("pullrequest.author.nickname", "pullrequest.author.display_name"))
                .set("url", body.text("pullrequest.links.html.href"))
                .set("merged", String.valueOf(payload.event().equals("pullrequest:fulfilled")))
                .set("sender", body.text("actor.nickname"));
    }
}
