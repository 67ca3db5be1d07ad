package dev.culvert.platform.triggers.git;

import dev.culvert.platform.triggers.hermes.EventBody;
import dev.culvert.platform.triggers.hermes.EventKind;
import dev.culvert.platform.triggers.hermes.EventUri;
import dev.culvert.platform.triggers.hermes.Happening;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Pushes, tags and pull requests of one repository at a provider of Git. */
public record GitKind(GitProvider provider, String base) implements EventKind {
    private static final String TYPE = "git";

    /** Of all providers. */
    public static List<EventKind> all(String base) {
        return Arrays.stream(GitProvider.values()).<EventKind>map(each -> new GitKind(each, base)).toList();
    }

    /** The URI of a repository's event, in an account. */
    static String uri(GitProvider provider, String owner, String repo, String account) {
        return EventUri.of(uri(provider, owner, repo), account);
    }

    private static String uri(GitProvider provider, String owner, String repo) {
        return TYPE + ":" + provider.word() + ":" + owner.toLowerCase(Locale.ROOT) + ":"
                + repo.toLowerCase(Locale.ROOT);
    }

    @Override
    public String type() {
        return TYPE;
    }

    @Override
    public String kind() {
        return provider.word();
    }

    @Override
    public String summary() {
        return "Pushes, tags and pull requests of a repository at " + provider.title();
    }

    @Override
    public List<Value> values() {
        return List.of(
                new Value("owner", "[A-Za-z0-9._~-]{1,100}(/[A-Za-z0-9._~-]{1,100}){0,19}",
                        "the repository's owner or group, as acme"),
                new Value("repo", "[A-Za-z0-9._~-]{1,100}", "the repository's name, as web"));
    }

    @Override
    public String uri(Map<String, String> given, Instant now) {
        return uri(provider, given.getOrDefault("owner", ""), given.getOrDefault("repo", ""));
    }

    @Override
    public List<Happening> read(String account, String name, String body) {
        if (name.isEmpty()) {
            throw new IllegalArgumentException(
                    "name: missing (expected: the value of " + provider.eventField()
                            + ", as " + provider.title() + " sends it)");
        }
        return GitCalls.happenings(provider,
                new GitPayload(name, EventBody.parse(body.getBytes(StandardCharsets.UTF_8))), account, body,
                null);
    }

    @Override
    public String help(String account) {
        return "at the repository: a webhook to " + base + GitCalls.ROOT + "/" + provider.word() + "?account="
                + account + " with content type application/json, this secret, and the events push and "
                + provider.pullRequest();
    }
}
