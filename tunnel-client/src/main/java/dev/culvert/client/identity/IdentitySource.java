package dev.culvert.client.identity;

import dev.culvert.certs.CertificateRequest;
import dev.culvert.certs.CertsException;
import dev.culvert.certs.ClientIdentity;
import dev.culvert.certs.EnrolmentToken;
import dev.culvert.certs.tls.ServerTrust;
import dev.culvert.certs.tls.TlsContexts;
import dev.culvert.client.dial.ClientConfig;
import dev.culvert.client.dial.Connector;
import dev.culvert.client.dial.Outbound;
import dev.culvert.client.dial.TlsChecks;
import dev.culvert.config.ConfigException;
import dev.culvert.http.net.EventLoops;
import dev.culvert.relay.tls.TlsLink;
import io.netty.handler.ssl.SslContext;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.security.KeyPair;
import java.time.Clock;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/**
 * Provides the client's identity: from the identity folder if it has a usable one, else by an enrolment with
 * the configured token. Thread-safe; one attempt at a time.
 */
public final class IdentitySource {
    private static final Logger LOG = LoggerFactory.getLogger(IdentitySource.class);
    /** The maximum size of a token file: a token of 121 characters with surrounding white space. */
    private static final int MAX_TOKEN_FILE_BYTES = 1024;

    private final ClientConfig config;
    private final EventLoops loops;
    private final Connector connector;
    private final TlsLink tls;
    private final Clock clock;
    private final IdentityStore store;

    /**
     * @param loops the event loops of the connections to the server, borrowed
     * @param clock determines whether a stored certificate has expired
     */
    public IdentitySource(ClientConfig config, EventLoops loops, Clock clock) {
        this(config, loops, new Connector(loops, Outbound.of(config)), link(config), clock);
    }

    /**
     * @param connector opens the connections to the server
     * @param tls their TLS
     */
    public IdentitySource(ClientConfig config, EventLoops loops, Connector connector, TlsLink tls,
            Clock clock) {
        this.tls = tls;
        this.config = config;
        this.loops = loops;
        this.connector = connector;
        this.clock = clock;
        ClientConfig.IdentitySecretName secret = config.identitySecret();
        this.store = new IdentityStore(config.identityDir(),
                secret == null ? null : new IdentitySecret(secret),
                config.serverCa(), config.extraCa());
    }

    /** The TLS of a client's connections to its server. */
    public static TlsLink link(ClientConfig config) {
        return TlsLink.of("tunnel", "tls.postQuantum", config.tls().postQuantum());
    }

    /** Creates the credentials of an identity. Blocks: reads the system's roots. */
    public Credentials credentials(Identity identity) {
        return Credentials.of(identity, tls);
    }

    private SslContext context(ServerTrust trust) {
        return tls.context(
                hybridOnly -> TlsContexts.client(trust, null, List.of("http/1.1"), hybridOnly));
    }

    /**
     * Returns the stored identity, or enrols and stores a new one. An expired identity is replaced if the
     * token still permits it; otherwise it is returned, because the server may renew it. Each subscription is
     * one attempt, which tries every address of the server. Cancelling stops the attempt; the next one uses
     * the same key. Emits off the event loops. Never empty. Errors: {@link EnrolmentException}, of which only
     * retryable ones are temporary; {@link ConfigException} and {@link CertsException} for files that the
     * operator must correct.
     */
    public Mono<Identity> identity() {
        return store.load().flatMap(stored -> switch (stored) {
            case StoredIdentity.Usable usable when !usable.identity().expiredAt(clock.instant()) ->
                Mono.just(usable.identity());
            case StoredIdentity.Usable usable -> replaced(usable.identity());
            case StoredIdentity.Absent absent -> enrolled("no identity in " + config.identityDir(), null);
            case StoredIdentity.Broken broken -> {
                LOG.atWarn().addKeyValue("reason", broken.reason()).log("stored identity unusable");
                yield enrolled(broken.reason(), null);
            }
        });
    }

    /**
     * The trust of a client with this configuration, for a diagnosis. Changes no state. Errors: {@link
     * CertsException}.
     */
    public Mono<TlsChecks.Trusts> trusts() {
        return Mono.justOrEmpty(config.enrolmentTokenFile())
                .publishOn(Schedulers.boundedElastic())
                .map(file -> Optional.of(readToken(file).caPin()))
                .onErrorResume(ConfigException.class, e -> Mono.empty()) // the token file may have been used and removed
                .defaultIfEmpty(Optional.empty())
                .flatMap(pin -> store.trusts(pin.orElse(null)));
    }

    /** The runtime's public URL, as the server named it last; empty if it named none. Blocks. */
    public static Optional<URI> publicUrl(Path identityDir) {
        return IdentityStore.publicUrl(identityDir);
    }

    /** Whether a token is configured, usable or not. */
    public boolean hasToken() {
        return config.enrolmentTokenFile() != null;
    }

    /**
     * Enrols with the configured token to replace an identity that servers refuse. Errors as for {@link
     * #identity}.
     */
    public Mono<Identity> enrolledAnew(Identity refused) {
        return enrolled("the stored identity is refused", refused);
    }

    private Mono<Identity> replaced(Identity ended) {
        LOG.atWarn().addKeyValue("since", ended.expires()).log("stored certificate has expired");
        return config.enrolmentTokenFile() == null
                ? Mono.just(ended)
                : enrolled("the stored certificate has expired", ended)
                        .onErrorResume(
                                e -> e instanceof EnrolmentException.Refused || e instanceof ConfigException,
                                e -> {
                                    LOG.atWarn()
                                            .addKeyValue("reason", e.getMessage())
                                            .log("enrolment with the token failed");
                                    return Mono.just(ended);
                                });
    }

    /**
     * @param before the identity in the folder, which a token of another runtime must not replace by mistake
     */
    private Mono<Identity> enrolled(String why, @Nullable Identity before) {
        Path file = config.enrolmentTokenFile();
        if (file == null) {
            return Mono.error(() -> new ConfigException("enrolmentTokenFile",
                    "the file of an enrolment token, because there is no usable identity: " + why
                            + "; make a token with: culvert runtime enrol-token ACCOUNT NAME"));
        }
        return Mono.fromCallable(() -> readToken(file))
                .subscribeOn(Schedulers.boundedElastic())
                .flatMap(token -> store.next(before).flatMap(next -> switch (next) {
                    case IdentityStore.Next.Key key -> enrol(token, key.keys(), before);
                    case IdentityStore.Next.Stored stored -> byAnother(stored.identity());
                }))
                // Its key is not needed any more.
                .onErrorResume(EnrolmentException.Refused.class,
                        refused -> store.abandon().onErrorComplete().then(Mono.error(refused)));
    }

    private static Mono<Identity> byAnother(Identity identity) {
        LOG.atInfo()
                .addKeyValue("expires", identity.expires())
                .log("certificate taken from another replica of this client");
        return Mono.just(identity);
    }

    private Mono<Identity> enrol(EnrolmentToken token, KeyPair keys, @Nullable Identity before) {
        ServerTrust pinned = ServerTrust.inPin(token.caPin()).or(ServerTrust.inSystemRoots());
        return store.trustOr(pinned)
                .map(this::context)
                .flatMap(context -> atAnyOf(config.server(), context, token, CertificateRequest.create(keys)))
                .doOnNext(enrolled -> requireSameRuntime(enrolled.identity(),
                        before == null ? null : before.client()))
                .flatMap(enrolled -> store.save(keys, enrolled)
                        .doOnNext(identity -> LOG.atInfo()
                                .addKeyValue("account", identity.client().account())
                                .addKeyValue("runtime", identity.client().runtime())
                                .addKeyValue("host", enrolled.host())
                                .addKeyValue("expires", identity.expires())
                                .log("enrolled")));
    }

    private void requireSameRuntime(ClientIdentity given, @Nullable ClientIdentity before) {
        if (before != null && !(given.account().equals(before.account())
                && given.runtime().equals(before.runtime()))) {
            throw new EnrolmentException.Refused("the enrolment token is for the runtime " + given.account()
                    + "/" + given.runtime() + ", but " + config.identityDir() + " holds the identity of "
                    + before.account() + "/" + before.runtime()
                    + "; name another identityDir, or remove client.key and client.crt there");
        }
    }

    /**
     * Obtains a certificate for a new key. The present certificate, which may have expired, authenticates the
     * request. The new identity is stored before it is emitted. Each subscription is one attempt, which tries
     * every address of the server. Never empty. Errors as for {@link #identity}.
     */
    public Mono<Identity> renewed(Identity present) {
        return Mono.fromCallable(() -> context(present.trust()))
                .subscribeOn(Schedulers.boundedElastic())
                .flatMap(context -> store.next(present).flatMap(next -> switch (next) {
                    case IdentityStore.Next.Key key -> renewed(present, key.keys(), context);
                    case IdentityStore.Next.Stored stored -> byAnother(stored.identity());
                }));
    }

    private Mono<Identity> renewed(Identity present, KeyPair keys, SslContext context) {
        return Flux.fromIterable(config.server())
                .map(address -> new Renewer(http(address, "renew", context), present,
                        CertificateRequest.create(keys)).renew())
                .reduce(IdentitySource::orNext)
                .flatMap(attempt -> attempt)
                .flatMap(renewed -> store.renewed(keys, renewed))
                .doOnNext(identity -> LOG.atInfo()
                        .addKeyValue("expires", identity.expires())
                        .log("certificate renewed"));
    }

    private static <T> Mono<T> orNext(Mono<T> first, Mono<T> second) {
        return first.onErrorResume(EnrolmentException.Failed.class, e -> second);
    }

    /**
     * Tries the addresses in order. A refusal ends the attempt, a failure continues with the next address.
     * Fails with the last failure.
     */
    private Mono<Enroller.Enrolled> atAnyOf(List<URI> addresses, SslContext context, EnrolmentToken token,
            CertificateRequest request) {
        return Flux.fromIterable(addresses)
                .map(address -> new Enroller(http(address, "enrol", context), token, request)
                        .enrol())
                .reduce(IdentitySource::orNext)
                .flatMap(attempt -> attempt);
    }

    private EnrolmentHttp http(URI address, String resource, SslContext context) {
        return new EnrolmentHttp(address, resource, context, connector, loops.group().next());
    }

    private static EnrolmentToken readToken(Path file) {
        try {
            if (Files.isRegularFile(file) && Files.size(file) > MAX_TOKEN_FILE_BYTES) {
                throw new ConfigException("enrolmentTokenFile",
                        "a file of at most " + MAX_TOKEN_FILE_BYTES + " bytes");
            }
            return EnrolmentToken.parse(Files.readString(file).strip());
        } catch (NoSuchFileException e) {
            throw new ConfigException("enrolmentTokenFile", "an existing file; there is no " + file);
        } catch (IOException e) {
            throw new ConfigException("enrolmentTokenFile",
                    "a readable file; " + file + ": " + e.getMessage());
        } catch (CertsException e) {
            throw new ConfigException("enrolmentTokenFile",
                    "a file that holds an enrolment token; " + file + ": " + e.getMessage());
        }
    }
}
