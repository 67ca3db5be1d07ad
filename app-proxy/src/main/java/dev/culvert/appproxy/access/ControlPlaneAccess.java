package dev.culvert.appproxy.access;

import com.github.benmanes.caffeine.cache.Ticker;
import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.handlers.spi.HandlerException.Reason;
import dev.culvert.handlers.spi.RequestContext;
import dev.culvert.http.observe.AuditTrail;
import dev.culvert.http.observe.AuditTrail.Decision;
import io.netty.handler.codec.http.HttpHeaders;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Asks the control plane, and caches its answers. Fails closed: while the control plane can't be reached,
 * cached answers are served until they expire, and then calls fail with UNAVAILABLE. The next request asks
 * again.
 */
final class ControlPlaneAccess implements Access {
    /** The maximum length of a query: an object may have many labels, and the control plane reads 64 KiB. */
    private static final int MAX_QUESTION_CHARS = 32 << 10;

    private final AccessDirectory directory;
    private final AuditTrail audit;
    private final boolean runtimeTokensOnly;
    private final AnswerCache<String, Answers.Resolved> tokens;
    private final AnswerCache<String, Answers.Decision> decisions;

    ControlPlaneAccess(AccessDirectory directory, ControlPlaneSettings settings, AuditTrail audit,
            Ticker ticker) {
        this.directory = directory;
        this.audit = audit;
        this.runtimeTokensOnly = settings.runtimeTokensOnly();
        Duration ttl = settings.ttl();
        Duration denied = settings.deniedTtl();
        this.tokens = new AnswerCache<>(settings.maxAnswers(),
                answer -> answer.state().equals("known") ? answer.life(ttl, Instant.now()) : denied, ticker);
        this.decisions = new AnswerCache<>(settings.maxAnswers(),
                answer -> answer.isValid() ? ttl : denied, ticker);
    }

    @Override
    public Mono<AuthenticatedCaller> caller(HttpHeaders headers) {
        return Mono.defer(() -> {
            TokenHash token = TokenHash.of(headers);
            if (runtimeTokensOnly && !token.isRuntimeToken()) {
                return Mono.error(TokenHash.refused(
                        "this runtime takes runtime tokens only: POST /api/runtime-tokens of the control plane"));
            }
            return tokens.get(token.hash(), directory.resolve(token.text()))
                    .onErrorMap(ControlPlaneAway.class, ControlPlaneAway::forCaller)
                    .map(ControlPlaneAccess::caller);
        });
    }

    private static AuthenticatedCaller caller(Answers.Resolved answer) {
        if (answer.state().equals("foreign")) {
            throw HandlerException.of(Reason.NOT_FOUND, "there is no such runtime in your account");
        }
        Answers.User user = answer.user();
        if (!answer.state().equals("known") || user == null) {
            throw TokenHash.refused("the API key is unknown or revoked");
        }
        return user.caller();
    }

    @Override
    public Mono<Void> allow(AuthenticatedCaller caller, Operation operation) {
        if (caller.admin()) {
            return Mono.empty();
        }
        if (size(operation) > MAX_QUESTION_CHARS) {
            return Mono.error(HandlerException.of(Reason.BAD_REQUEST,
                    "names of more than " + MAX_QUESTION_CHARS + " characters"));
        }
        Mono<Answers.Decision> asked = directory.decide(caller.id(), operation);
        return (operation.remembered() ? decisions.get(key(caller, operation), asked) : asked)
                .onErrorMap(ControlPlaneAway.class, ControlPlaneAway::forCaller)
                .flatMap(answer -> answer.isValid()
                        ? Mono.empty()
                        : Mono.error(HandlerException.of(Reason.FORBIDDEN,
                                "no permission for " + operation.action() + " on " + operation.entity())));
    }

    @Override
    public <T> Mono<T> change(AuthenticatedCaller caller, Operation operation, List<Operation> also,
            RequestContext context, Mono<T> change) {
        Mono<Void> allowed = Flux.concat(Mono.just(operation), Flux.fromIterable(also))
                .concatMap(each -> allow(caller, each).onErrorResume(HandlerException.class,
                        // Whatever the reason, nothing was changed: a flood of refusals must push no change
                        // out of the log.
                        refused -> audit
                                .write(entry(caller, each, context, Decision.DENIED,
                                        each.equals(operation)
                                                ? refused.detail()
                                                : refused.detail() + "; needed for " + operation.action()
                                                        + " of " + operation.object()))
                                .then(Mono.error(refused))))
                .then();
        Mono<T> audited = Mono.usingWhen(Mono.just(operation), same -> change,
                done -> audit.write(entry(caller, operation, context, Decision.ALLOWED, null)),
                (same, failed) -> audit
                        .write(entry(caller, operation, context, Decision.FAILED, reason(failed))),
                left -> audit.write(entry(caller, operation, context, Decision.FAILED,
                        "the caller left; it may have happened")));
        return allowed.then(audited);
    }

    /** Drops all cached answers. */
    void forget() {
        tokens.forget();
        decisions.forget();
    }

    private static int size(Operation operation) {
        return operation.entity().length() + operation.action().length()
                + operation.attributes()
                        .entrySet()
                        .stream()
                        .mapToInt(entry -> entry.getKey().length() + entry.getValue().length())
                        .sum();
    }

    /**
     * The cache key of a decision: a hash, so long names cost no memory. The object is not included, because
     * rules only refer to attributes.
     */
    private static String key(AuthenticatedCaller caller, Operation operation) {
        var text = new StringBuilder();
        part(text, caller.account());
        part(text, caller.id());
        part(text, operation.entity());
        part(text, operation.action());
        new TreeMap<>(operation.attributes()).forEach((name, value) -> {
            part(text, name);
            part(text, value);
        });
        return TokenHash.sha256(text.toString());
    }

    /** Appends a part after its length, so no two queries have the same text. */
    private static void part(StringBuilder text, String part) {
        text.append(part.length()).append(':').append(part);
    }

    private static AuditTrail.Entry entry(AuthenticatedCaller caller, Operation operation,
            RequestContext context,
            Decision decision, @Nullable String reason) {
        return new AuditTrail.Entry(caller.id(), caller.account(), operation.action(), operation.entity(),
                operation.object(), decision, context.requestId(), null, reason);
    }

    /** The reason for the audit log: only texts for callers, because other messages may contain anything. */
    private static String reason(Throwable failure) {
        return failure instanceof HandlerException told ? told.detail() : "it failed";
    }
}
