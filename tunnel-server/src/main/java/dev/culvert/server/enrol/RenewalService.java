package dev.culvert.server.enrol;

import dev.culvert.certs.Base64Url;
import dev.culvert.certs.CertificateRequest;
import dev.culvert.certs.CertsException;
import dev.culvert.certs.ClientCertificates;
import dev.culvert.certs.ClientCertificates.Verdict;
import dev.culvert.certs.ClientIdentity;
import dev.culvert.certs.EnrolmentProof;
import dev.culvert.certs.KeyProof;
import dev.culvert.certs.Pem;
import dev.culvert.certs.Sha256;
import dev.culvert.certs.VouchedAuthorities;
import dev.culvert.handlers.rest.JsonFields;
import dev.culvert.http.problem.EdgeException;
import dev.culvert.http.problem.Problem.Cause;
import dev.culvert.protocol.frame.Hello.Nonce;
import dev.culvert.server.runtime.RegisteredRuntime;
import dev.culvert.server.runtime.Revocations;
import dev.culvert.server.runtime.RuntimeStore;
import dev.culvert.store.StoreException;
import java.net.InetSocketAddress;
import java.security.PublicKey;
import java.security.cert.X509Certificate;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/**
 * Issues new certificates to clients that prove the key of an earlier one (docs/enrolment.md), and judges
 * certificates proven in a session. Each of the two has a thread of its own, apart from enrolment's, so
 * unauthenticated requests delay no client's session. Callable on any thread.
 */
public final class RenewalService {
    /**
     * How long after its end a certificate may still be renewed: long enough for a cluster that is switched
     * off over a holiday.
     */
    static final Duration GRACE = Duration.ofDays(30);

    private static final Logger log = LoggerFactory.getLogger(RenewalService.class);
    private static final int MAX_WAITING = 1024;
    /**
     * The maximum number of queued judgements. A session queues one: more than all sessions being opened at
     * once, and many that renew.
     */
    private static final int MAX_SESSIONS_WAITING = 4096;

    private final RuntimeStore store;
    private final CertificateIssuer issuer;
    private final Clock clock;
    private final EnrolmentNonces nonces;
    private final Scheduler requests;
    private final Scheduler sessions;
    private final LongAdder conflicts = new LongAdder();

    /** Makes the service. Its threads start with the first request and end by {@link #close}. */
    public RenewalService(RuntimeStore store, CertificateIssuer issuer, Clock clock) {
        this(store, issuer, clock, Schedulers.newBoundedElastic(1, MAX_WAITING, "culvert-renewal", 60, true),
                Schedulers.newBoundedElastic(1, MAX_SESSIONS_WAITING, "culvert-judge", 60, true));
    }

    /**
     * Makes the service. Takes ownership of both schedulers.
     *
     * @param requests runs {@link #renew}, for unauthenticated clients
     * @param sessions judges certificates of sessions
     */
    public RenewalService(RuntimeStore store, CertificateIssuer issuer, Clock clock, Scheduler requests,
            Scheduler sessions) {
        this.store = store;
        this.issuer = issuer;
        this.clock = clock;
        this.nonces = new EnrolmentNonces(clock, EnrolmentNonces.MAX_SPENT);
        this.requests = requests;
        this.sessions = sessions;
    }

    /**
     * Answers {@code POST /tunnel/v1/renew}. Always emits a value, never an error: refusals are problems.
     *
     * @param body the whole body, at most {@link EnrolmentService#MAX_BODY_BYTES}; borrowed until the answer
     * @param requestId for problems
     * @param remote for the log
     */
    public Mono<EnrolmentAnswer> renew(byte[] body, String requestId, InetSocketAddress remote) {
        return Mono.defer(() -> {
            EnrolmentAnswers.refuseAfterRelease(store);
            return answer(body, remote);
        })
                .subscribeOn(requests)
                .onErrorResume(error -> Mono.just(EnrolmentAnswer
                        .problem(EnrolmentAnswers.problem(error, remote), requestId)));
    }

    /**
     * Judges the certificate that a client proves on a live session. Errors: {@link EdgeException} or {@link
     * CertsException} with the reason; others when it could not be judged.
     *
     * @param certificate the certificate as DER
     * @param proof the signature of its key over both nonces
     * @param runtimeId the runtime of the session
     * @return when the certificate ends
     */
    public Mono<Instant> judge(byte[] certificate, byte[] proof, Nonce server, Nonce client,
            String runtimeId) {
        return Mono.fromCallable(() -> {
            Proven proven = judged(certificate, proof,
                    KeyProof.session(server.bytes(), client.bytes(), certificate));
            if (!proven.runtime().id().equals(runtimeId)) {
                throw unauthorized("the certificate is another runtime's");
            }
            return proven.until();
        }).subscribeOn(sessions);
    }

    /**
     * Judges the certificate that a client proves before its session is live. Errors: as {@link #judge}.
     *
     * @param host the server's name from the client's request, in lower case, without port
     */
    public Mono<Proven> judgeOpening(byte[] certificate, byte[] proof, Nonce server, Nonce client,
            String host) {
        return Mono.fromCallable(() -> judged(certificate, proof,
                KeyProof.opening(server.bytes(), client.bytes(), certificate, host))).subscribeOn(sessions);
    }

    /**
     * The runtime of a proven certificate.
     *
     * @param until when the certificate ends
     */
    public record Proven(RegisteredRuntime runtime, Instant until) {}

    private Proven judged(byte[] certificate, byte[] signature, KeyProof proof) {
        X509Certificate shown = ClientCertificates.parse(certificate);
        RegisteredRuntime runtime = runtimeOf(shown);
        Instant until = shown.getNotAfter().toInstant();
        if (!clock.instant().isBefore(until)) {
            throw unauthorized("the client certificate ended at " + until + "; renew it");
        }
        if (!proof.isBy(shown.getPublicKey(), signature)) {
            throw unauthorized("the proof is not by the certificate's key");
        }
        return new Proven(runtime, until);
    }

    /** Finishes running requests and refuses others with 503. Completes empty. */
    public Mono<Void> close() {
        return requests.disposeGracefully().then(sessions.disposeGracefully());
    }

    private record NonceView(String nonce) {}

    private record CertificateView(String certificate, String ca, String account, String runtime,
            String host, String authorities, String authoritiesProof,
            @Nullable String url) {}

    /**
     * The body of a request. Without a nonce it requests one, and needs neither {@code proof} nor {@code
     * csr}.
     */
    private record Asked(String certificate, @Nullable String nonce, String proof, String csr) {
        static Asked of(JsonFields fields) {
            String nonce = fields.optionalText("nonce");
            return new Asked(fields.text("certificate"), nonce, nonce == null ? "" : fields.text("proof"),
                    nonce == null ? "" : fields.text("csr"));
        }
    }

    private Mono<EnrolmentAnswer> answer(byte[] body, InetSocketAddress remote) {
        if (body.length > EnrolmentService.MAX_BODY_BYTES) {
            throw EnrolmentAnswers.refused(Cause.BODY_TOO_LARGE,
                    "the body is larger than " + EnrolmentService.MAX_BODY_BYTES + " bytes");
        }
        Asked asked = JsonFields.readOpen(body, Asked::of);
        X509Certificate certificate = one(Pem.certificates(asked.certificate));
        RegisteredRuntime runtime = runtimeOf(certificate);
        String subject = certificate.getSerialNumber().toString(16);
        return asked.nonce == null
                ? Mono.just(EnrolmentAnswers.of(200, new NonceView(Base64Url.encode(nonces.issue(subject)))))
                : renewed(asked, asked.nonce, certificate, runtime, remote);
    }

    private Mono<EnrolmentAnswer> renewed(Asked asked, String encodedNonce, X509Certificate certificate,
            RegisteredRuntime runtime, InetSocketAddress remote) {
        byte[] nonce = Base64Url.decode("nonce", encodedNonce, EnrolmentProof.NONCE_BYTES);
        byte[] proof = Base64Url.decodeUpTo("proof", asked.proof, KeyProof.MAX_BYTES);
        if (!nonces.fresh(certificate.getSerialNumber().toString(16), nonce)) {
            throw EnrolmentAnswers.startAgain();
        }
        CertificateRequest request = CertificateRequest.parse(asked.csr);
        if (!KeyProof.renewal(nonce, request.encoded()).isBy(certificate.getPublicKey(), proof)) {
            throw unauthorized("the proof is not by the certificate's key");
        }
        if (!nonces.spend(nonce)) {
            throw EnrolmentAnswers.startAgain();
        }
        return store.renewed(runtime.id(), hash(certificate.getPublicKey()), hash(request.publicKey()),
                certificate.getNotAfter().toInstant().plus(GRACE))
                .onErrorMap(StoreException.Conflict.class,
                        conflict -> stolen(conflict, certificate, runtime, remote))
                .then(Mono.fromCallable(() -> issued(request, certificate, runtime, remote)));
    }

    private static Sha256 hash(PublicKey key) {
        return Sha256.of(key.getEncoded());
    }

    /**
     * Refuses a second successor of a key. One of the two clients is not its owner; only the operator can
     * know which one.
     */
    private EdgeException stolen(StoreException.Conflict conflict, X509Certificate certificate,
            RegisteredRuntime runtime, InetSocketAddress remote) {
        conflicts.increment();
        log.atWarn()
                .addKeyValue("runtime", runtime.name())
                .addKeyValue("remote", remote)
                .addKeyValue("serial", certificate.getSerialNumber().toString(16))
                .addKeyValue("reason", conflict.getMessage())
                .log("renewal refused, the client key may be stolen: revoke the runtime and enrol it anew");
        return unauthorized(String.valueOf(conflict.getMessage()));
    }

    /** The number of renewals refused because another key had renewed the certificate before. */
    public long conflicts() {
        return conflicts.sum();
    }

    private EnrolmentAnswer issued(CertificateRequest request, X509Certificate certificate,
            RegisteredRuntime runtime, InetSocketAddress remote) {
        X509Certificate next = issuer.issue(request, runtime);
        log.atInfo()
                .addKeyValue("runtime", runtime.name())
                .addKeyValue("remote", remote)
                .addKeyValue("serial", next.getSerialNumber().toString(16))
                .addKeyValue("replaces", certificate.getSerialNumber().toString(16))
                .log("client certificate renewed");
        VouchedAuthorities vouched = issuer.vouch(next);
        return EnrolmentAnswers.of(201, new CertificateView(Pem.text(next), Pem.text(issuer.authority()),
                runtime.name().account(), runtime.name().name(), runtime.host(), vouched.pem(),
                vouched.proof(), issuer.url(runtime)));
    }

    /** The runtime named by a certificate of this authority that is valid or ended within {@link #GRACE}. */
    private RegisteredRuntime runtimeOf(X509Certificate certificate) {
        Verdict verdict = ClientCertificates.verify(List.of(certificate), issuer.authorities(),
                clock.instant());
        ClientIdentity identity = switch (verdict) {
            case Verdict.Valid valid -> valid.identity();
            case Verdict.Expired ended when clock.instant().isBefore(ended.since().plus(GRACE)) ->
                ended.identity();
            case Verdict.Expired ended -> throw unauthorized("the certificate ended at " + ended.since()
                    + ", more than " + GRACE.toDays() + " days ago");
            case Verdict.Untrusted untrusted -> throw unauthorized(untrusted.reason());
            case Verdict.Missing missing -> throw unauthorized("no certificate");
        };
        RegisteredRuntime runtime = store.byIdentity(identity.runtimeId());
        if (runtime == null) {
            throw unauthorized(Revocations.reason(store, identity));
        }
        return runtime;
    }

    private static X509Certificate one(List<X509Certificate> certificates) {
        if (certificates.size() != 1) {
            throw new CertsException("certificate: " + certificates.size() + " certificates (expected: one)");
        }
        return certificates.get(0);
    }

    private static EdgeException unauthorized(String detail) {
        return EnrolmentAnswers.refused(Cause.UNAUTHORIZED, detail + EnrolmentAnswers.NEW_TOKEN);
    }
}
