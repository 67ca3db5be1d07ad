package dev.culvert.standins.git;

import java.util.LinkedHashMap;
import java.util.Map;

/** The responses that Gitea's REST API shares with GitHub's. */
final class GithubAnswers {
    private GithubAnswers() {}

    /** @param sizes the parameter with the page size */
    static ProviderAnswer list(ApiCall call, String root, String sizes, int max) {
        Slice slice = call.page(call.host().all(), sizes, 30, max);
        ProviderAnswer answer = ProviderAnswer.of(200, slice.json(item -> repository(call, item)))
                .with("X-Total-Count", String.valueOf(slice.total()));
        String links = slice.links(call.origin() + root + "/user/repos?" + sizes + "=" + slice.size());
        return links.isEmpty() ? answer : answer.with("Link", links);
    }

    /** @param pages the segment of the pull requests' pages */
    static ProviderAnswer pull(ApiCall call, HostedRepository repository, String pages) {
        HostedObject made = call.make("pull", repository);
        return ProviderAnswer.of(201,
                Map.of("number", made.number(), "state", "open", "title", call.text("/title"), "html_url",
                        call.origin() + "/" + repository.fullName() + pages + made.number()));
    }

    static Map<String, Object> repository(ApiCall call, HostedRepository repository) {
        var json = new LinkedHashMap<String, Object>();
        json.put("id", repository.id());
        json.put("name", repository.name());
        json.put("full_name", repository.fullName());
        json.put("private", repository.isPrivate());
        json.put("html_url", call.origin() + "/" + repository.fullName());
        json.put("clone_url", call.origin() + "/" + repository.fullName() + ".git");
        json.put("ssh_url", "git@127.0.0.1:" + repository.fullName() + ".git");
        json.put("default_branch", "main");
        json.put("permissions", Map.of("admin", call.user().mayWrite(), "push", call.user().mayWrite(),
                "pull", true));
        return json;
    }
}
