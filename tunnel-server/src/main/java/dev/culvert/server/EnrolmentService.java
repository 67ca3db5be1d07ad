package dev.culvert.server;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.culvert.certs.Base64Url;
import dev.culvert.certs.CertificateAuthority;
import dev.culvert.certs.CertificateRequest;
import dev.culvert.certs.CertsException;
import dev.culvert.certs.ClientIdentity;
import dev.culvert.certs.EnrolmentProof;
import dev.culvert.certs.Pem;
import dev.culvert.edge.EdgeException;
import dev.culvert.edge.Problem;
import dev.culvert.edge.Problem.Cause;
import dev.culvert.edge.Problem.Hop;
import dev.culvert.edge.spi.HandlerException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.security.cert.CertificateEncodingException;
import java.security.cert.X509Certificate;
import java.time.Clock;
import java.time.Duration;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/**
 * The server's side of docs/enrolment.md: nonces for whoever asks, certificates for those who prove a token.
 * Cryptography runs on one thread of its own, so that strangers can't take more than that. Callable on any thread.
 */
public final class EnrolmentService {
    /** The largest body of a request. */
    public static final int MAX_BODY_BYTES = 16 << 10;
    /** Short, because it is renewed without anybody's help. */
    public static final Duration CERTIFICATE_LIFE = Duration.ofDays(1);

    private static final Logger log = LoggerFactory.getLogger(EnrolmentService.class);
    private static final JsonMapper JSON = new JsonMapper();
    /** With {@link #MAX_BODY_BYTES} they hold 16 MiB at most. */
    private static final int MAX_WAITING = 1024;
    private static final int MAX_TOKEN_ID_CHARS = 64;
    private static final Duration RETRY = Duration.ofSeconds(1);
    /** Stands for the hash of a token that is not there, so that it takes no less time to refuse. */
    private static final Sha256 NO_HASH = Sha256.of(new byte[0]);

    private final RuntimeStore store;
    private final CertificateAuthority ca;
    private final Clock clock;
    private final EnrolmentNonces nonces;
    private final Scheduler scheduler;

    /** Makes the service. Its thread starts with the first request and ends by {@link #close}. */
    public EnrolmentService(RuntimeStore store, CertificateAuthority ca, Clock clock) {
        this(store, ca, clock, MAX_WAITING);
    }

    EnrolmentService(RuntimeStore store, CertificateAuthority ca, Clock clock, int maxWaiting) {
        this.store = store;
        this.ca = ca;
        this.clock = clock;
        this.nonces = new EnrolmentNonces(clock, EnrolmentNonces.MAX_SPENT);
        this.scheduler = Schedulers.newBoundedElastic(1, maxWaiting, "culvert-enrolment", 60, true);
    }

    /**
     * Answers {@code POST /tunnel/v1/enrol}. Never empty, never an error: refusals are problems. Cancelling drops a
     * request that has not begun; a token that was bound to its key stays so, and serves that key again.
     *
     * @param body the whole body, at most {@link #MAX_BODY_BYTES}; borrowed until the answer
     * @param requestId for problems
     * @param remote for the log
     */
    public Mono<EnrolmentAnswer> enrol(byte[] body, String requestId, InetSocketAddress remote) {
        return Mono.fromCallable(() -> read(body)).flatMap(step -> switch (step) {
            case Step.Ask ask -> Mono.just(nonce(ask));
            case Step.Prove prove -> certificate(prove, remote);
        })
                .subscribeOn(scheduler)
                .onErrorResume(error -> Mono.just(EnrolmentAnswer
                        .problem(problem(error, remote), requestId)));
    }

    /** Lets running requests end, and refuses others with 503. Completes empty. */
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
            String proof) {}

    private static Step read(byte[] body) {
        if (body.length > MAX_BODY_BYTES) {
            throw refused(Cause.BODY_TOO_LARGE, "the body is larger than " + MAX_BODY_BYTES + " bytes");
        }
        JsonFields fields = JsonFields.readOpen(body);
        String tokenId = fields.text("token");
        if (tokenId.isEmpty() || tokenId.length() > MAX_TOKEN_ID_CHARS) {
            throw refused(Cause.BAD_REQUEST, "token: not the id of an enrolment token");
        }
        String nonce = fields.optionalText("nonce");
        return nonce == null
                ? new Step.Ask(tokenId)
                : new Step.Prove(tokenId, nonce, fields.text("csr"), fields.text("proof"));
    }

    /** The same for tokens that exist and those that don't: the answer tells nothing about them. */
    private EnrolmentAnswer nonce(Step.Ask ask) {
        return answer(200, new NonceView(Base64Url.encode(nonces.issue(ask.tokenId()))));
    }

    private Mono<EnrolmentAnswer> certificate(Step.Prove step, InetSocketAddress remote) {
        byte[] nonce = Base64Url.decode("nonce", step.nonce(), EnrolmentProof.NONCE_BYTES);
        byte[] proof = Base64Url.decode("proof", step.proof(), EnrolmentProof.BYTES);
        if (!nonces.fresh(step.tokenId(), nonce)) {
            throw startAgain();
        }
        CertificateRequest request = CertificateRequest.parse(step.csr());
        StoredToken token = proven(step.tokenId(), nonce, request, proof);
        // Only now, when nobody but the token's holder can be asking.
        if (!nonces.spend(nonce)) {
            throw startAgain();
        }
        if (!clock.instant().isBefore(token.expires())) {
            throw unauthorized("the enrolment token expired at " + token.expires());
        }
        return store.use(token.id(), Sha256.of(request.publicKey().getEncoded()))
                .publishOn(scheduler)
                .map(used -> issue(used, nonce, request, remote));
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

    private EnrolmentAnswer issue(StoredToken token, byte[] nonce, CertificateRequest request,
            InetSocketAddress remote) {
        RegisteredRuntime runtime = store.byId(token.runtimeId());
        if (runtime == null) {
            throw unauthorized("the enrolment token's runtime was deleted");
        }
        RuntimeName name = runtime.name();
        X509Certificate certificate = sign(request, runtime);
        byte[] proof = EnrolmentProof.response(token.hash().bytes(), nonce, encoded(certificate),
                encoded(ca.certificate()));
        log.atInfo()
                .addKeyValue("runtime", name)
                .addKeyValue("token", token.id())
                .addKeyValue("remote", remote)
                .addKeyValue("serial", certificate.getSerialNumber().toString(16))
                .log("client enrolled");
        return answer(201,
                new CertificateView(Pem.text(certificate), Pem.text(ca.certificate()), name.account(),
                        name.name(), runtime.host(), Base64Url.encode(proof)));
    }

    /** What fails here is no fault of the request's. */
    private X509Certificate sign(CertificateRequest request, RegisteredRuntime runtime) {
        try {
            var identity = new ClientIdentity(runtime.name().account(), runtime.name().name(), runtime.id());
            return ca.issueClient(request, identity, CERTIFICATE_LIFE);
        } catch (CertsException e) {
            throw new IllegalStateException("the authority can't issue certificates", e);
        }
    }

    private static byte[] encoded(X509Certificate certificate) {
        try {
            return certificate.getEncoded();
        } catch (CertificateEncodingException e) {
            throw new IllegalStateException("a certificate that has no encoding", e);
        }
    }

    private static EnrolmentAnswer answer(int status, Record view) {
        try {
            return EnrolmentAnswer.json(status, JSON.writeValueAsBytes(view));
        } catch (JsonProcessingException e) {
            throw new UncheckedIOException("records of strings always render", e);
        }
    }

    private static Problem problem(Throwable error, InetSocketAddress remote) {
        @Nullable
        Problem problem = switch (error) {
            case EdgeException refused -> refused.problem();
            case HandlerException wrong -> Problem.of(Cause.BAD_REQUEST, Hop.TUNNEL, wrong.detail());
            case CertsException wrong -> Problem.of(Cause.BAD_REQUEST, Hop.TUNNEL, detail(wrong));
            case StoreException.Conflict used -> unauthorized(detail(used)).problem();
            case StoreException.Absent gone -> unauthorized(detail(gone)).problem();
            case StoreException.Busy busy -> overloaded();
            case RejectedExecutionException full -> overloaded();
            default -> null;
        };
        if (problem == null) {
            log.atError().addKeyValue("remote", remote).setCause(error).log("enrolment failed");
            return Problem.of(Cause.INTERNAL, Hop.TUNNEL, "the server could not answer").retryAfter(RETRY);
        }
        log.atDebug()
                .addKeyValue("remote", remote)
                .addKeyValue("cause", problem.cause().word())
                .addKeyValue("detail", problem.detail())
                .log("enrolment refused");
        return problem;
    }

    /** Not the token's fault: the client asks for another nonce. */
    private static EdgeException startAgain() {
        return new EdgeException(Problem.of(Cause.CONFLICT, Hop.TUNNEL,
                "nonce: unknown, used or older than " + EnrolmentNonces.LIFE.toSeconds()
                        + " s; ask for another and try again")
                .retryAfter(RETRY));
    }

    private static EdgeException unauthorized(String detail) {
        return refused(Cause.UNAUTHORIZED,
                detail + "; make a new token with: culvert runtime enrol-token ACCOUNT NAME");
    }

    private static EdgeException refused(Cause cause, String detail) {
        return new EdgeException(Problem.of(cause, Hop.TUNNEL, detail));
    }

    private static Problem overloaded() {
        return Problem.of(Cause.OVERLOADED, Hop.TUNNEL, "too many enrolments wait").retryAfter(RETRY);
    }

    private static String detail(Throwable error) {
        String message = error.getMessage();
        return message == null ? "" : message;
    }
}
