package dev.culvert.platform.triggers.git;

import dev.culvert.handlers.spi.EdgeResponse;
import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.handlers.spi.HandlerException.Reason;
import dev.culvert.platform.host.rest.CallScope;
import dev.culvert.platform.host.rest.RawBody;
import dev.culvert.platform.host.rest.RestCall;
import dev.culvert.platform.host.rest.RestCall.Who;
import dev.culvert.platform.triggers.hermes.EventBody;
import dev.culvert.platform.triggers.hermes.Happening;
import dev.culvert.platform.triggers.hermes.Hermes;
import dev.culvert.platform.triggers.hermes.HermesCalls;
import dev.culvert.platform.triggers.hermes.Outcome;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.QueryStringDecoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** Takes the webhooks of providers of Git. */
public final class GitCalls {
    static final String ROOT = HermesCalls.ROOT + "/git";
    private static final String FORM = "application/x-www-form-urlencoded";

    private final Hermes hermes;

    private GitCalls(Hermes hermes) {
        this.hermes = hermes;
    }

    public static RestCall of(Hermes hermes) {
        return RestCall.of(HttpMethod.POST, ROOT + "/{provider}", Who.ANYONE,
                "Takes a webhook of github, gitlab, bitbucket or gitea; it proves the event's secret",
                new GitCalls(hermes)::take)
                .asks("account")
                .takes(new RawBody(Set.of("application/json", FORM), HermesCalls.MAX_BYTES));
    }

    private Mono<EdgeResponse> take(CallScope scope) {
        GitProvider provider = GitProvider.of(scope.segment("provider"))
                .orElseThrow(() -> HandlerException.of(Reason.NOT_FOUND,
                        "there is no such provider (expected: github, gitlab, bitbucket or gitea)"));
        String account = scope.query("account");
        HttpHeaders headers = scope.request().headers();
        if (account == null || account.isEmpty()) {
            return Mono.error(HandlerException.of(Reason.BAD_REQUEST,
                    "query account: missing (expected: the account's id)"));
        }
        if (provider.event(headers).isEmpty()) {
            return Mono.error(HandlerException.of(Reason.BAD_REQUEST,
                    provider.eventField() + ": missing (expected: the event's name, as " + provider.title()
                            + " sends it)"));
        }
        return scope.bytes().flatMap(bytes -> {
            String text = json(headers, bytes);
            var payload = new GitPayload(provider.event(headers),
                    EventBody.parse(text.getBytes(StandardCharsets.UTF_8)));
            List<Happening> happened = happenings(provider, payload, account, text,
                    named(provider, headers));
            String uri = uri(provider, payload.body(), account);
            return scope.judging(uri, hermes.proved(uri, provider.proof(headers, bytes)))
                    .flatMap(event -> hermes.takeAll(event.account(), happened));
        }).map((Outcome outcome) -> HermesCalls.answer(outcome));
    }

    private static @Nullable String named(GitProvider provider, HttpHeaders headers) {
        String named = HermesCalls.delivery(headers);
        return named == null ? provider.delivery(headers) : named;
    }

    /** The JSON of a body, which may be a field of a form. */
    private static String json(HttpHeaders headers, byte[] bytes) {
        String text = new String(bytes, StandardCharsets.UTF_8);
        if (!headers.get(HttpHeaderNames.CONTENT_TYPE, "").startsWith(FORM)) {
            return text;
        }
        List<String> payload = new QueryStringDecoder(text, false).parameters()
                .getOrDefault("payload", List.of());
        if (payload.isEmpty()) {
            throw HandlerException.of(Reason.BAD_REQUEST, "payload: missing (expected: a field of the form)");
        }
        return payload.getFirst();
    }

    private static String uri(GitProvider provider, EventBody body, String account) {
        Repository repository = Repository.of(body);
        return GitKind.uri(provider, repository.owner(), repository.name(), account);
    }

    /** Whose webhook it is. */
    private record Repository(String owner, String name) {
        static Repository of(EventBody body) {
            String path = body.first("repository.full_name", "project.path_with_namespace");
            int slash = path.lastIndexOf('/');
            if (slash <= 0 || slash == path.length() - 1) {
                throw body.wrong("repository.full_name", path.isEmpty() ? "missing" : "no such name",
                        "owner/name");
            }
            return new Repository(path.substring(0, slash), path.substring(slash + 1));
        }
    }

    /** What a webhook tells. Throws HandlerException BAD_REQUEST. */
    static List<Happening> happenings(GitProvider provider, GitPayload payload, String account,
            String text, @Nullable String delivery) {
        Repository repository = Repository.of(payload.body());
        String uri = uri(provider, payload.body(), account);
        List<Happening> all = new ArrayList<>();
        for (GitChange change : provider.changes(payload)) {
            Map<String, String> fields = change.fields(repository.owner(), repository.name());
            String key = delivery == null || all.isEmpty() ? delivery : delivery + " " + all.size();
            all.add(new Happening(uri, key, fields, GitChange.variables(fields, text), change.whyNot()));
        }
        return all;
    }
}
