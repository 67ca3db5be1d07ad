package dev.culvert.platform.triggers.registry;

import dev.culvert.handlers.spi.EdgeResponse;
import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.handlers.spi.HandlerException.Reason;
import dev.culvert.platform.host.rest.CallScope;
import dev.culvert.platform.host.rest.RawBody;
import dev.culvert.platform.host.rest.RestCall;
import dev.culvert.platform.host.rest.RestCall.Who;
import dev.culvert.platform.triggers.hermes.EventBody;
import dev.culvert.platform.triggers.hermes.EventUri;
import dev.culvert.platform.triggers.hermes.Happening;
import dev.culvert.platform.triggers.hermes.Hermes;
import dev.culvert.platform.triggers.hermes.HermesCalls;
import dev.culvert.platform.triggers.hermes.Outcome;
import dev.culvert.platform.triggers.hermes.Proof;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpResponseStatus;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Takes the webhooks of registries. */
public final class RegistryCalls {
    /** What all calls are below. */
    public static final String ROOT = "/nomios";
    /** The digits of an account in URIs. */
    private static final String ACCOUNT_PART = "[0-9a-f]{12}";
    private static final String BEARER = "Bearer ";

    private final Hermes hermes;

    private RegistryCalls(Hermes hermes) {
        this.hermes = hermes;
    }

    public static List<RestCall> of(Hermes hermes) {
        var calls = new RegistryCalls(hermes);
        return Stream
                .concat(Arrays.stream(Registry.values())
                        .map(registry -> calls.call(registry, ROOT + registry.path())),
                        Stream.of(calls.call(Registry.HELM, ROOT + "/helm/jfrog")))
                .toList();
    }

    private RestCall call(Registry registry, String path) {
        return RestCall.of(HttpMethod.POST, path, Who.ANYONE,
                "Takes a webhook of " + registry.title() + "; it has the event's secret",
                scope -> take(registry, scope))
                .asks("account", "secret")
                .takes(new RawBody(Set.of(), HermesCalls.MAX_BYTES));
    }

    private Mono<EdgeResponse> take(Registry registry, CallScope scope) {
        String account = scope.query("account");
        if (account == null || account.isEmpty()) {
            return Mono.error(HandlerException.of(Reason.BAD_REQUEST,
                    "query account: missing (expected: the account's id, or the end of the event's URI)"));
        }
        String part = account.matches(ACCOUNT_PART) ? account : EventUri.accountPart(account);
        Proof proof = Proof.equal(secret(scope));
        return scope.bytes().flatMap(bytes -> {
            List<Happening> happened = registry.happenings(EventBody.parse(bytes), part,
                    new String(bytes, StandardCharsets.UTF_8),
                    HermesCalls.delivery(scope.request().headers()));
            return happened.isEmpty()
                    ? Mono.just(EdgeResponse.Http.empty(HttpResponseStatus.NO_CONTENT))
                    : takeAll(scope, happened, proof);
        });
    }

    private static @Nullable String secret(CallScope scope) {
        String field = scope.request().headers().get(HttpHeaderNames.AUTHORIZATION);
        return field != null && field.regionMatches(true, 0, BEARER, 0, BEARER.length())
                ? field.substring(BEARER.length()).strip()
                : scope.query("secret");
    }

    /** What one registry sends may be for several events: those whose secret it knows take it. */
    private Mono<EdgeResponse> takeAll(CallScope scope, List<Happening> happened, Proof proof) {
        return Flux.fromIterable(happened)
                .concatMap(each -> scope.judging(each.event(), hermes.proved(each.event(), proof))
                        .map(event -> new Judged(event.account(), null))
                        .onErrorResume(HandlerException.class, RegistryCalls::notProved)
                        .flatMap(judged -> judged.account == null
                                ? Mono.just(new Answered(null, judged.refusal))
                                : hermes.takeAll(judged.account, List.of(each))
                                        .map(outcome -> new Answered(outcome, null))))
                .collectList()
                .flatMap(RegistryCalls::answer);
    }

    /** Whose event it is, if the secret was proved, or why not. */
    private record Judged(@Nullable String account, @Nullable HandlerException refusal) {}

    /** Of several events that a message may be for, only some need to know its secret. */
    private static Mono<Judged> notProved(HandlerException failed) {
        return failed.reason() == Reason.FORBIDDEN || failed.reason() == Reason.RATE_LIMITED
                ? Mono.just(new Judged(null, failed))
                : Mono.error(failed);
    }

    /** What one event answered. */
    private record Answered(@Nullable Outcome outcome, @Nullable HandlerException refusal) {}

    private static Mono<EdgeResponse> answer(List<Answered> answers) {
        List<Outcome> outcomes = answers.stream()
                .flatMap(answer -> Stream.ofNullable(answer.outcome))
                .toList();
        return outcomes.isEmpty()
                ? answers.stream()
                        .flatMap(answer -> Stream.ofNullable(answer.refusal))
                        .findFirst()
                        .<Mono<EdgeResponse>>map(Mono::error)
                        .orElseGet(Mono::empty)
                : Mono.just(HermesCalls.answer(Outcome.of(outcomes)));
    }
}
