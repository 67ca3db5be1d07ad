package dev.culvert.server.access;

import dev.culvert.certs.tls.ServerTrust;
import dev.culvert.certs.tls.TlsContexts;
import dev.culvert.http.net.EventLoops;
import dev.culvert.http.net.OutboundCalls;
import dev.culvert.relay.Admission;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.cert.X509Certificate;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/**
 * The admissions of all runtimes. Bounded by the number of stored runtimes, because deleted ones are dropped.
 * Callable from any thread; look-ups take no lock.
 */
public final class AccessControl {
    private static final int MAX_CONNECTIONS = 256;
    private static final int MAX_WAITING = 1000;
    private static final int MAX_JWKS_BYTES = 1 << 20;
    private static final Duration JWKS_TIMEOUT = Duration.ofSeconds(5);

    private final AccessDefault withoutRules;
    private final OutboundCalls calls;
    private final Verifications verifications;
    private final Map<String, Known> byId = new ConcurrentHashMap<>();

    private record Known(AccessRules rules, Admission admission) {}

    /**
     * @param withoutRules whether runtimes without rules may be called
     * @param authorities authorities of services and issuers, trusted in addition to the public ones
     */
    public AccessControl(AccessDefault withoutRules, List<X509Certificate> authorities, EventLoops loops,
            Clock clock) {
        this.withoutRules = withoutRules;
        this.calls = new OutboundCalls("access", MAX_CONNECTIONS, MAX_WAITING, loops,
                TlsContexts.client(new ServerTrust(authorities, true, List.of()), null, List.of()));
        this.verifications = new Verifications(clock);
    }

    /** Whether runtimes without rules may be called. */
    public AccessDefault withoutRules() {
        return withoutRules;
    }

    /**
     * The admission of a runtime; null: all callers are admitted.
     *
     * @param rules the runtime's present rules
     */
    public @Nullable Admission of(String runtimeId, AccessRules rules) {
        if (rules.isEmpty()) {
            return withoutRules == AccessDefault.OPEN ? null : RuntimeAdmission.CLOSED;
        }
        Known known = byId.get(runtimeId);
        if (known == null || !known.rules.equals(rules)) {
            known = byId.compute(runtimeId, (id, before) -> before != null && before.rules.equals(rules)
                    ? before
                    : new Known(rules, new RuntimeAdmission(rules, this::admission)));
        }
        return known.admission;
    }

    /** Drops the admission of a deleted runtime. */
    public void forget(String runtimeId) {
        byId.remove(runtimeId);
    }

    private Admission admission(Requirement requirement) {
        return switch (requirement) {
            case Requirement.Jwt jwt -> new TokenAdmission(jwt,
                    new KeySource(jwt.jwks().toString(), () -> keys(jwt.jwks()), System::nanoTime),
                    verifications);
            case Requirement.ForwardAuth service -> new ForwardAuthAdmission(service, calls);
            case Requirement.ClientCertificate certificate ->
                new CertificateAdmission(certificate, verifications);
            case Requirement.None none -> throw new IllegalArgumentException("needs no admission");
            case Requirement.Deny deny -> throw new IllegalArgumentException("needs no admission");
        };
    }

    private Mono<byte[]> keys(URI jwks) {
        if (jwks.getScheme().equals("file")) {
            return Mono.fromCallable(() -> read(Path.of(jwks))).subscribeOn(Schedulers.boundedElastic());
        }
        return calls
                .get(jwks, fields -> fields.set("accept", "application/json"), MAX_JWKS_BYTES, JWKS_TIMEOUT)
                .flatMap(answer -> answer.status() == 200
                        ? Mono.just(answer.body())
                        : Mono.error(new IOException("it answered " + answer.status())));
    }

    /** Blocks. */
    private static byte[] read(Path file) throws IOException {
        try (InputStream in = Files.newInputStream(file)) {
            byte[] json = in.readNBytes(MAX_JWKS_BYTES + 1);
            if (json.length > MAX_JWKS_BYTES) {
                throw new OutboundCalls.TooLargeException(MAX_JWKS_BYTES);
            }
            return json;
        }
    }

    /** Cancels outstanding calls and verifications. */
    public Mono<Void> close() {
        return calls.close().doFinally(done -> verifications.close());
    }
}
