package dev.culvert.platform.signing;

import dev.culvert.certs.CertificateAuthority;
import dev.culvert.certs.CertsException;
import dev.culvert.certs.Pem;
import dev.culvert.certs.SigningRequest;
import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.handlers.spi.HandlerException.Reason;
import dev.culvert.platform.host.spi.SecretWrapping;
import dev.culvert.platform.host.spi.Store;
import dev.culvert.platform.signing.store.SigningTable;
import dev.culvert.platform.signing.store.StoredAuthority;
import dev.culvert.platform.signing.store.StoredCertificate;
import dev.culvert.store.StoreException;
import java.math.BigInteger;
import java.security.cert.X509Certificate;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/**
 * Signs certificates by the authority of an account, which is made when it is needed first. Keys and
 * signatures are made outside of transactions. Errors: HandlerException, {@link StoreException}.
 */
final class Signer {
    static final int MAX_CERTIFICATES = 10_000;
    static final int MAX_NAMES = 100;
    private static final Duration LIFE = Duration.ofDays(90);
    private static final Duration LIST_LIFE = Duration.ofDays(7);
    /** A list is made anew before it ends. */
    private static final Duration LIST_AGE = Duration.ofDays(1);

    private final Store store;
    private final SecretWrapping wrapping;
    private final Clock clock;

    Signer(Store store, SecretWrapping wrapping, Clock clock) {
        this.store = store;
        this.wrapping = wrapping;
        this.clock = clock;
    }

    /**
     * What was signed.
     *
     * @param authority the authority's certificate, as PEM
     * @param certificate as PEM
     */
    record Signed(String authority, String certificate, String serial) {}

    /** Signs the certificate of a server. */
    Mono<Signed> server(String account, WantedNames names, String csr) {
        return request(csr)
                .flatMap(request -> allowed(account).map(names::foreign)
                        .flatMap(foreign -> foreign.isEmpty()
                                ? sign(account, "server", names.text(),
                                        (authority, life) -> authority.signServer(request.publicKey(),
                                                names.dns(),
                                                names.addresses(), life))
                                : Mono.error(HandlerException.of(Reason.BAD_REQUEST, "reqSubjectAltName: "
                                        + foreign
                                        + " is no name that the account may ask for (expected: one of"
                                        + " /api/custom_clusters/names, where administrators set them)"))));
    }

    /** Signs the certificate of a client of an account's servers. */
    Mono<Signed> client(String account, String csr) {
        return request(csr).flatMap(request -> sign(account, "client", account,
                (authority, life) -> authority.signClient(request.publicKey(), account, life)));
    }

    private static Mono<SigningRequest> request(String csr) {
        return Mono.fromCallable(() -> SigningRequest.parse(csr))
                .subscribeOn(Schedulers.boundedElastic())
                .onErrorMap(CertsException.class,
                        wrong -> HandlerException.of(Reason.BAD_REQUEST, "csr: " + wrong.getMessage()));
    }

    /** The names that an account may ask for. */
    Mono<List<String>> allowed(String account) {
        return store.read(connection -> SigningTable.names(connection, account))
                .map(names -> names.isEmpty() ? WantedNames.DEFAULT : names);
    }

    private Mono<Signed> sign(String account, String kind, String names,
            BiFunction<CertificateAuthority, Duration, X509Certificate> signature) {
        return authority(account).flatMap(stored -> opened(stored)
                .map(authority -> signature.apply(authority, LIFE))
                .flatMap(certificate -> store.change(account, connection -> {
                    long now = store.now(connection, clock);
                    SigningTable.removeExpired(connection, account, now);
                    if (SigningTable.count(connection, account) >= MAX_CERTIFICATES) {
                        throw new StoreException.Full("the account has " + MAX_CERTIFICATES
                                + " certificates that have not expired, which is the most");
                    }
                    String serial = serial(certificate.getSerialNumber());
                    SigningTable.add(connection, new StoredCertificate(account, serial, kind, names, now,
                            certificate.getNotAfter().toInstant().toEpochMilli(), null));
                    return new Signed(stored.certificate(), Pem.text(certificate), serial);
                })));
    }

    private static String serial(BigInteger number) {
        return String.format("%032x", number);
    }

    /** The authority of an account, which may be made now. */
    private Mono<StoredAuthority> authority(String account) {
        return found(account).flatMap(found -> {
            StoredAuthority there = found.authority;
            return there != null ? Mono.just(there) : made(account);
        });
    }

    /** An authority, if there is one. */
    private record Found(@Nullable StoredAuthority authority) {}

    private Mono<Found> found(String account) {
        return store.read(connection -> new Found(SigningTable.authority(connection, account)));
    }

    private Mono<StoredAuthority> made(String account) {
        return wrapping.key()
                .flatMap(key -> Mono.fromCallable(() -> {
                    var authority = CertificateAuthority.create("Culvert builds " + account, clock);
                    return new StoredAuthority(account, Pem.text(authority.certificate()), wrapping
                            .wrap(authority.keyText(), SigningTable.secretName(account), key), 0, null, 0);
                }).subscribeOn(Schedulers.boundedElastic()))
                .flatMap(made -> store.change(account, connection -> {
                    StoredAuthority there = SigningTable.authority(connection, account);
                    if (there != null) {
                        return there; // another call was earlier
                    }
                    SigningTable.add(connection, made, store.now(connection, clock));
                    return made;
                }));
    }

    private Mono<CertificateAuthority> opened(StoredAuthority stored) {
        return Mono
                .fromCallable(() -> CertificateAuthority.of(stored.certificate(),
                        wrapping.unwrap(stored.secret(), SigningTable.secretName(stored.account())), clock))
                .subscribeOn(Schedulers.boundedElastic())
                .onErrorMap(SecretWrapping.Failed.class, failed -> HandlerException.of(Reason.UNAVAILABLE,
                        "the authority's key can't be read now"));
    }

    /** Revokes a certificate, which is in the next list. */
    Mono<Boolean> revoke(String account, String serial) {
        return store.change(account, connection -> {
            if (!SigningTable.revoke(connection, account, serial, store.now(connection, clock))) {
                throw new StoreException.Absent("no certificate has this serial number");
            }
            StoredAuthority there = SigningTable.authority(connection, account);
            if (there != null) {
                SigningTable.keepList(connection, account, there.crlNumber(), "", 0);
            }
            return true;
        });
    }

    /** The list of an account's revoked certificates, in DER. */
    Mono<byte[]> revocations(String account) {
        return found(account).flatMap(found -> {
            StoredAuthority there = found.authority;
            if (there == null) {
                return Mono.error(new StoreException.Absent("the account has no authority"));
            }
            String crl = there.crl();
            return crl != null && !crl.isEmpty() && there.crlUntil() > clock.millis()
                    ? Mono.just(Base64.getDecoder().decode(crl))
                    : renewed(there);
        });
    }

    private Mono<byte[]> renewed(StoredAuthority stored) {
        String account = stored.account();
        long number = stored.crlNumber() + 1;
        return opened(stored)
                .flatMap(authority -> store
                        .read(connection -> SigningTable.revoked(connection, account,
                                store.now(connection, clock)))
                        .publishOn(Schedulers.boundedElastic())
                        .map((Map<BigInteger, Instant> revoked) -> authority.revocations(revoked, number,
                                LIST_LIFE)))
                .flatMap(list -> store.change(account, connection -> {
                    StoredAuthority now = SigningTable.authority(connection, account);
                    if (now != null && now.crlNumber() < number && now.crlUntil() == stored.crlUntil()) {
                        SigningTable.keepList(connection, account, number,
                                Base64.getEncoder().encodeToString(list),
                                clock.instant().plus(LIST_AGE).toEpochMilli());
                    }
                    return list;
                }));
    }
}
