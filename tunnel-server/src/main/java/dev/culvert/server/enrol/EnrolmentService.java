package dev.culvert.server.enrol;

import dev.culvert.certs.Base64Url;
import dev.culvert.certs.CertificateRequest;
import dev.culvert.certs.EnrolmentProof;
import dev.culvert.certs.Pem;
import dev.culvert.certs.Sha256;
import dev.culvert.certs.VouchedAuthorities;
import dev.culvert.handlers.rest.JsonFields;
import dev.culvert.http.problem.EdgeException;
import dev.culvert.http.problem.Problem.Cause;
import dev.culvert.server.runtime.RegisteredRuntime;
import dev.culvert.server.runtime.RuntimeName;
import dev.culvert.server.runtime.RuntimeStore;
import dev.culvert.server.runtime.StoredToken;
import java.net.InetSocketAddress;
import java.security.cert.CertificateEncodingException;
import java.security.cert.X509Certificate;
import java.time.Clock;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/**
 * The server's side of docs/enrolment.md: issues nonces to any client, and certificates to clients that prove
 * a token. Cryptography runs on one thread of its own, so unauthenticated clients can't use more. Callable on
 * any thread.
 */
public final class EnrolmentService {
    /** The largest body of a request. */
    public static final int MAX_BODY_BYTES = 16 << 10;
    private static final Logger log = LoggerFactory.getLogger(EnrolmentService.class);
    /** The maximum number of queued requests; with {@link #MAX_BODY_BYTES} they hold at most 16 MiB. */
    private static final int MAX_WAITING = 1024;
    private static final int MAX_TOKEN_ID_CHARS = 64;
    /** Replaces the hash of an unknown token, so its refusal takes as long as that of a known one. */
    private static final Sha256 NO_HASH = Sha256.of(new byte[0]);

    private final RuntimeStore store;
    private final CertificateIssuer issuer;
    private final Clock clock;
    private final EnrolmentNonces nonces;
    private final Scheduler scheduler;
    private final BiConsumer<RuntimeName, InetSocketAddress> enrolled;

    /** Makes the service. Its thread starts with the first request and ends by {@link #close}. */
    public EnrolmentService(RuntimeStore store, CertificateIssuer issuer, Clock clock) {
        this(store, issuer, clock, MAX_WAITING, (runtime, remote) -> {});
    }

    /** @param enrolled receives the runtime and the address of each client that got a certificate */
    public EnrolmentService(RuntimeStore store, CertificateIssuer issuer, Clock clock,
            BiConsumer<RuntimeName, InetSocketAddress> enrolled) {
        this(store, issuer, clock, MAX_WAITING, enrolled);
    }

    EnrolmentService(RuntimeStore store, CertificateIssuer issuer, Clock clock, int maxWaiting,
            BiConsumer<RuntimeName, InetSocketAddress> enrolled) {
        this.enrolled = enrolled;
        this.store = store;
        this.issuer = issuer;
        this.clock = clock;
        this.nonces = new EnrolmentNonces(clock, EnrolmentNonces.MAX_SPENT);
        this.scheduler = Schedulers.newBoundedElastic(1, maxWaiting, "culvert-enrolment", 60, true);
    }

    /**
     * Answers {@code POST /tunnel/v1/enrol}. Always emits a value, never an error: refusals are problems.
     * Cancelling drops a request that has not begun. A token that was bound to its key stays bound, and
     * enrols that key again.
     *
     * @param body the whole body, at most {@link #MAX_BODY_BYTES}; borrowed until the answer
     * @param requestId for problems
     * @param remote for the log
     */
    public Mono<EnrolmentAnswer> enrol(byte[] body, String requestId, InetSocketAddress remote) {
        return Mono.fromCallable(() -> {
            EnrolmentAnswers.refuseAfterRelease(store);
            return read(body);
        }).flatMap(step -> switch (step) {
            case Step.Ask ask -> Mono.just(nonce(ask));
            case Step.Prove prove -> certificate(prove, remote);
        })
                .subscribeOn(scheduler)
                .onErrorResume(error -> Mono.just(EnrolmentAnswer
                        .problem(EnrolmentAnswers.problem(error, remote), requestId)));
    }

    /** Finishes running requests and refuses others with 503. Completes empty. */
    public Mono<Void> close() {
        return scheduler.disposeGracefully();
    }

    /** The two requests of an enrolment. */
    private sealed interface Step {
        record Ask(String tokenId) implements Step {}

        record Prove(String tokenId, String nonce, String csr, String proof) implements Step {}
    }

    private record NonceView(String nonce) {}

    private record CertificateView(String certificate, String ca, String account, String runtime, String host,
            String proof, String authorities, String authoritiesProof,
            @Nullable String url) {}

    private static Step read(byte[] body) {
        if (body.length > MAX_BODY_BYTES) {
            throw EnrolmentAnswers.refused(Cause.BODY_TOO_LARGE,
                    "the body is larger than " + MAX_BODY_BYTES + " bytes");
        }
        return JsonFields.readOpen(body, EnrolmentService::step);
    }

    private static Step step(JsonFields fields) {
        String tokenId = fields.text("token");
        if (tokenId.isEmpty() || tokenId.length() > MAX_TOKEN_ID_CHARS) {
            throw EnrolmentAnswers.refused(Cause.BAD_REQUEST, "token: not the id of an enrolment token");
        }
        String nonce = fields.optionalText("nonce");
        return nonce == null
                ? new Step.Ask(tokenId)
                : new Step.Prove(tokenId, nonce, fields.text("csr"), fields.text("proof"));
    }

    /** Issues a nonce for known and unknown tokens alike, so the response reveals nothing about them. */
    private EnrolmentAnswer nonce(Step.Ask ask) {
        return EnrolmentAnswers.of(200, new NonceView(Base64Url.encode(nonces.issue(ask.tokenId()))));
    }

    private Mono<EnrolmentAnswer> certificate(Step.Prove step, InetSocketAddress remote) {
        byte[] nonce = Base64Url.decode("nonce", step.nonce(), EnrolmentProof.NONCE_BYTES);
        byte[] proof = Base64Url.decode("proof", step.proof(), EnrolmentProof.BYTES);
        if (!nonces.fresh(step.tokenId(), nonce)) {
            throw EnrolmentAnswers.startAgain();
        }
        CertificateRequest request = CertificateRequest.parse(step.csr());
        StoredToken token = proven(step.tokenId(), nonce, request, proof);
        // Only now: the request is proven to be from the token's holder.
        if (!nonces.spend(nonce)) {
            throw EnrolmentAnswers.startAgain();
        }
        RegisteredRuntime runtime = runtimeOf(token);
        if (!clock.instant().isBefore(token.expires())) {
            throw worthless("the enrolment token expired at " + token.expires(), runtime);
        }
        Sha256 key = Sha256.of(request.publicKey().getEncoded());
        if (!token.usableBy(key)) {
            throw worthless("the enrolment token was used with another key before: a client that has lost its"
                    + " identity needs a new one", runtime);
        }
        X509Certificate before = issuedBefore(token, key);
        if (before != null) {
            return Mono.just(answer(token, runtime, nonce, before));
        }
        X509Certificate certificate = issuer.issue(request, runtime);
        return store.use(token.id(), key, Pem.text(certificate)).map(used -> {
            log.atInfo()
                    .addKeyValue("runtime", runtime.name())
                    .addKeyValue("token", token.id())
                    .addKeyValue("remote", remote)
                    .addKeyValue("serial", certificate.getSerialNumber().toString(16))
                    .log("client enrolled");
            enrolled.accept(runtime.name(), remote);
            return answer(used, runtime, nonce, certificate);
        });
    }

    /**
     * The certificate that this key was issued before, if it is still valid. The client asks again when it
     * lost that response.
     */
    private @Nullable X509Certificate issuedBefore(StoredToken token, Sha256 key) {
        String pem = token.certificate();
        if (pem == null || !key.equals(token.usedBy())) {
            return null;
        }
        X509Certificate certificate = Pem.certificates(pem).getFirst();
        return clock.instant().isBefore(certificate.getNotAfter().toInstant()) ? certificate : null;
    }

    private RegisteredRuntime runtimeOf(StoredToken token) {
        RegisteredRuntime runtime = store.byId(token.runtimeId());
        if (runtime == null) {
            throw unauthorized("the enrolment token's runtime was deleted");
        }
        return runtime;
    }

    private StoredToken proven(String tokenId, byte[] nonce, CertificateRequest request, byte[] proof) {
        StoredToken token = store.token(tokenId);
        byte[] hash = (token == null ? NO_HASH : token.hash()).bytes();
        boolean fits = EnrolmentProof.matches(EnrolmentProof.request(hash, nonce, request.encoded()), proof);
        if (token == null || !fits) {
            throw unauthorized("the enrolment token is unknown, or the proof is not by its secret");
        }
        return token;
    }

    private EnrolmentAnswer answer(StoredToken token, RegisteredRuntime runtime, byte[] nonce,
            X509Certificate certificate) {
        RuntimeName name = runtime.name();
        byte[] proof = EnrolmentProof.response(token.hash().bytes(), nonce, encoded(certificate),
                encoded(issuer.authority()));
        VouchedAuthorities vouched = issuer.vouch(certificate);
        return EnrolmentAnswers.of(201,
                new CertificateView(Pem.text(certificate), Pem.text(issuer.authority()), name.account(),
                        name.name(), runtime.host(), Base64Url.encode(proof), vouched.pem(),
                        vouched.proof(), issuer.url(runtime)));
    }

    private static byte[] encoded(X509Certificate certificate) {
        try {
            return certificate.getEncoded();
        } catch (CertificateEncodingException e) {
            throw new IllegalStateException("a certificate that has no encoding", e);
        }
    }

    private static EdgeException worthless(String detail, RegisteredRuntime runtime) {
        return EnrolmentAnswers.refused(Cause.UNAUTHORIZED,
                detail + EnrolmentAnswers.newToken(runtime.name()));
    }

    private static EdgeException unauthorized(String detail) {
        return EnrolmentAnswers.refused(Cause.UNAUTHORIZED,
                detail + EnrolmentAnswers.NEW_TOKEN);
    }
}
