package dev.culvert.platform.directory;

import dev.culvert.config.Reason;
import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.http.net.CoalescingRunner;
import dev.culvert.http.net.OutboundCalls;
import dev.culvert.http.net.OutboundCalls.TooLargeException;
import dev.culvert.platform.directory.store.Directory;
import dev.culvert.platform.directory.store.KeyOwner;
import dev.culvert.platform.directory.store.User;
import dev.culvert.platform.directory.wrapping.WrappingException;
import dev.culvert.platform.host.rest.StoreRefusal;
import dev.culvert.platform.host.spi.PlatformCaller;
import dev.culvert.platform.host.spi.RuntimeCalls;
import dev.culvert.store.StoreException;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpMethod;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.TimeoutException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;

/**
 * Reaches runtimes at the URLs that they registered, through the tunnel's edge or the ingress. A runtime gets
 * one nudge of a path at a time, at most five a second.
 */
final class PublicHosts implements RuntimeCalls {
    private static final Duration NUDGE_PAUSE = Duration.ofMillis(200);
    private static final Duration NUDGE_TIMEOUT = Duration.ofSeconds(3);
    private static final Duration MAX_TIMEOUT = Duration.ofMinutes(1);
    private static final int MAX_NUDGE_ANSWER_BYTES = 64 << 10;
    private static final int MAX_BODY_BYTES = 64 << 10;
    private static final int MAX_ANSWER_BYTES = 1 << 20;
    /** The life of a user's token for one call. */
    private static final int TOKEN_SECONDS = 120;
    private static final Logger log = LoggerFactory.getLogger(PublicHosts.class);

    private final Directory directory;
    private final OutboundCalls calls;
    private final CoalescingRunner runner = new CoalescingRunner(NUDGE_PAUSE);

    PublicHosts(Directory directory, OutboundCalls calls) {
        this.directory = directory;
        this.calls = calls;
    }

    @Override
    public Mono<Answer> call(PlatformCaller caller, String runtime, Question question) {
        KeyOwner owner = KeyOwner.of(caller);
        User user = owner.user();
        byte[] body = question.body() == null ? null : question.body().getBytes(StandardCharsets.UTF_8);
        if (user == null || !question.path().startsWith("/") || question.maxBytes() > MAX_ANSWER_BYTES
                || question.timeout().compareTo(MAX_TIMEOUT) > 0
                || (body != null && body.length > MAX_BODY_BYTES)) {
            return Mono.error(new IllegalArgumentException(
                    "a call into a runtime (expected: of a user, a path, and the bounds of RuntimeCalls)"));
        }
        return Mono.zip(url(user.account(), runtime), directory.issueToken(owner, runtime, TOKEN_SECONDS))
                .flatMap(found -> calls.send(
                        new OutboundCalls.Call(question.method(), URI.create(found.getT1() + question.path()),
                                fields -> fields(fields, found.getT2().token(), body != null), body),
                        question.maxBytes(), question.timeout()))
                .map(answer -> new Answer(answer.status(),
                        new String(answer.body(), StandardCharsets.UTF_8)))
                .timeout(question.timeout())
                .onErrorMap(failed -> told(failed, runtime));
    }

    private static void fields(HttpHeaders fields, String token, boolean hasBody) {
        fields.set(HttpHeaderNames.AUTHORIZATION, "Bearer " + token);
        fields.set(HttpHeaderNames.ACCEPT, "application/json");
        if (hasBody) {
            fields.set(HttpHeaderNames.CONTENT_TYPE, "application/json");
        }
    }

    private Mono<String> url(String account, String runtime) {
        return directory.url(account, runtime)
                .switchIfEmpty(Mono.error(() -> HandlerException.of(HandlerException.Reason.NOT_FOUND,
                        "no runtime " + runtime + " has registered its URL")));
    }

    private static Throwable told(Throwable failed, String runtime) {
        return switch (failed) {
            case HandlerException known -> known;
            case WrappingException unusable -> TokenKeyCalls.told(unusable);
            case StoreException refused -> StoreRefusal.told(refused);
            case TimeoutException late -> HandlerException.of(HandlerException.Reason.UPSTREAM_TIMEOUT,
                    "runtime " + runtime + " gave no answer in time");
            case TooLargeException large -> HandlerException
                    .of(HandlerException.Reason.UPSTREAM_BAD_RESPONSE,
                            "runtime " + runtime + " answered more than was asked for");
            default -> HandlerException.of(HandlerException.Reason.UNAVAILABLE,
                    "runtime " + runtime + " can't be reached");
        };
    }

    @Override
    public void nudge(String account, String runtime, String path) {
        runner.run(account + "/" + runtime + path,
                directory.url(account, runtime).flatMap(url -> post(account, runtime, url + path)));
    }

    /** As above, for a URL that is known. */
    void nudge(String account, String runtime, String url, String path) {
        runner.run(account + "/" + runtime + path, post(account, runtime, url + path));
    }

    private Mono<Void> post(String account, String runtime, String url) {
        return Mono
                .defer(() -> calls.send(
                        new OutboundCalls.Call(HttpMethod.POST, URI.create(url), fields -> {}, null),
                        MAX_NUDGE_ANSWER_BYTES, NUDGE_TIMEOUT))
                .doOnNext(answer -> log.atDebug()
                        .addKeyValue("runtime", runtime)
                        .addKeyValue("status", answer.status())
                        .log("runtime nudged"))
                .doOnError(failed -> log.atDebug()
                        .addKeyValue("account", account)
                        .addKeyValue("runtime", runtime)
                        .addKeyValue("reason", Reason.of(failed))
                        .log("runtime not nudged"))
                .then();
    }
}
