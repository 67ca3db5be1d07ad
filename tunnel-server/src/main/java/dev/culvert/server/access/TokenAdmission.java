package dev.culvert.server.access;

import com.nimbusds.jose.jwk.JWK;
import dev.culvert.http.forwarding.CallerFields;
import dev.culvert.http.problem.Problem;
import dev.culvert.http.problem.Problem.Cause;
import dev.culvert.http.problem.Problem.Hop;
import dev.culvert.relay.Admission;
import dev.culvert.relay.RelayRequest;
import dev.culvert.relay.Verdict;
import dev.culvert.server.access.BearerToken.Judgement;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.Http2Headers;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;

/**
 * Admits callers with a valid bearer token. Signatures are verified off the event loops: each takes up to 0.3
 * ms, and a caller without a key can send any number. Only valid tokens are cached.
 */
final class TokenAdmission implements Admission {
    private static final String SCHEME = "Bearer ";
    private static final String CHALLENGE = "Bearer realm=\"culvert\"";
    /** The maximum number of requests of one rule that wait for keys or verification. */
    private static final int MAX_WAITING = 1000;
    private static final Duration RETRY_KEYS = KeySource.PAUSE;

    private final Requirement.Jwt rule;
    private final KeySource source;
    private final Verifications verifications;
    private final AtomicInteger waiting = new AtomicInteger();

    TokenAdmission(Requirement.Jwt rule, KeySource source, Verifications verifications) {
        this.rule = rule;
        this.source = source;
        this.verifications = verifications;
    }

    @Override
    public Runnable admit(RelayRequest request, Verdict verdict) {
        String text = presented(request.fields());
        if (text == null) {
            verdict.refuse(Problem.of(Cause.UNAUTHORIZED, Hop.EDGE, "a bearer token is needed")
                    .challenging(CHALLENGE));
            return DECIDED;
        }
        Verifications.Key key = Verifications.key(this, text);
        Judgement.Valid remembered = verifications.token(key);
        if (remembered != null && stillCounts(remembered)) {
            verdict.pass(fields(remembered));
            return DECIDED;
        }
        BearerToken token = BearerToken.read(text, rule);
        if (token == null) {
            tell(new Judgement.Invalid("this is no token that is accepted here"), verdict);
            return DECIDED;
        }
        if (waiting.incrementAndGet() > MAX_WAITING) {
            waiting.decrementAndGet();
            verdict.refuse(Verifications.undecided(new RejectedExecutionException(), "", RETRY_KEYS));
            return DECIDED;
        }
        Disposable judging = keyOf(token).publishOn(verifications.scheduler())
                .map(found -> token.judge(found, rule, verifications.now()))
                .defaultIfEmpty(new Judgement.Invalid("the token's key is not known"))
                .doOnNext(judgement -> verifications.remember(key, judgement))
                .doFinally(done -> waiting.decrementAndGet())
                .subscribe(judgement -> tell(judgement, verdict),
                        failed -> verdict.refuse(Verifications.undecided(failed,
                                "the keys of the token's issuer can't be had", RETRY_KEYS)));
        return judging::dispose;
    }

    /** The only token of the request, or null. */
    private static @Nullable String presented(Http2Headers fields) {
        List<CharSequence> values = fields.getAll("authorization");
        // RFC 9110 §11.1: the scheme's name is compared without case.
        return values.size() == 1 && values.getFirst().toString().regionMatches(true, 0, SCHEME, 0, 7)
                ? values.getFirst().toString().substring(SCHEME.length()).strip()
                : null;
    }

    /** Whether a cached token is still valid: not expired, and its key not withdrawn by the issuer. */
    private boolean stillCounts(Judgement.Valid remembered) {
        SignatureKeys known = source.known();
        Instant now = verifications.now();
        return known != null && now.isBefore(remembered.expires())
                && known.keys().contains(remembered.key());
    }

    /** The key of a token. Empty when the issuer has no such key. */
    private Mono<JWK> keyOf(BearerToken token) {
        return source.keys().flatMap(keys -> {
            JWK found = keys.find(token.header());
            return found != null
                    ? Mono.just(found)
                    : source.after(keys).flatMap(news -> Mono.justOrEmpty(news.find(token.header())));
        });
    }

    private static void tell(Judgement judgement, Verdict verdict) {
        switch (judgement) {
            case Judgement.Valid valid -> verdict.pass(fields(valid));
            // RFC 6750 §3.1
            case Judgement.Invalid invalid -> verdict.refuse(
                    Problem.of(Cause.UNAUTHORIZED, Hop.EDGE, invalid.reason())
                            .challenging(CHALLENGE + ", error=\"invalid_token\", error_description=\""
                                    + invalid.reason() + "\""));
            case Judgement.Insufficient lacking -> verdict.refuse(
                    Problem.of(Cause.NOT_ALLOWED, Hop.EDGE,
                            "the token's claim " + lacking.claim() + " does not allow this")
                            .challenging(CHALLENGE + ", error=\"insufficient_scope\""));
        }
    }

    private static @Nullable Http2Headers fields(Judgement.Valid valid) {
        return valid.subject().isEmpty()
                ? null
                : new DefaultHttp2Headers(false, 1).set(CallerFields.SUBJECT,
                        SubjectText.of(valid.subject()));
    }
}
