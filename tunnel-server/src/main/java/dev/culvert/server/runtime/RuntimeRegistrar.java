package dev.culvert.server.runtime;

import dev.culvert.store.StoreException;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.UUID;
import java.util.function.Consumer;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/**
 * Registers runtimes and gives them their enrolment tokens. Callable on any thread; nothing blocks: random bytes, which
 * Java reads from a file, are taken on the bounded elastic scheduler. Each method's work
 * begins with its subscription; cancelling later does not undo it, nor keep a revoked or deleted runtime connected. Errors: {@link StoreException}, and {@link
 * InvalidNameException} for what breaks a rule of names.
 */
public final class RuntimeRegistrar {
    /** How long a token can be used: long enough to carry it to the cluster, too short to be found in old logs. */
    public static final Duration TOKEN_LIFE = Duration.ofHours(1);

    private final RuntimeStore store;
    private final TunnelDirectory tunnels;
    private final TokenIssuer issuer;
    private final String domain;
    private final Clock clock;
    private final Consumer<RegisteredRuntime> forgotten;

    /**
     * Makes the registrar.
     *
     * @param domain the edge's domain, in lower case
     * @param forgotten told of each runtime that was deleted, on the store's thread
     */
    public RuntimeRegistrar(RuntimeStore store, TunnelDirectory tunnels, TokenIssuer issuer, String domain,
            Clock clock, Consumer<RegisteredRuntime> forgotten) {
        this.store = store;
        this.tunnels = tunnels;
        this.issuer = issuer;
        this.domain = domain;
        this.clock = clock;
        this.forgotten = forgotten;
    }

    /**
     * A runtime with the token of its first client.
     *
     * @param runtime what was registered
     * @param token shown this once
     */
    public record Registration(RegisteredRuntime runtime, IssuedToken token) {}

    /** Registers a runtime. Errors, beside the class's: {@link StoreException.Conflict} when a host is taken. */
    public Mono<Registration> register(RuntimeName name, List<String> customHosts) {
        return Mono.defer(() -> {
            List<String> hosts = checked(customHosts);
            var runtime = new RegisteredRuntime(UUID.randomUUID().toString(), UUID.randomUUID().toString(),
                    name,
                    name.label() + '.' + domain,
                    hosts, now());
            IssuedToken token = issuer.issue(runtime.id(), now().plus(TOKEN_LIFE));
            return store.create(runtime, token.stored()).map(made -> new Registration(made, token));
        }).subscribeOn(Schedulers.boundedElastic());
    }

    /**
     * Gives a runtime other custom hosts in place of those that it has; its tunnels are not touched. Errors, beside the
     * class's: {@link StoreException.Absent}, {@link StoreException.Conflict} when a host is taken.
     */
    public Mono<RegisteredRuntime> replaceHosts(RuntimeName name, List<String> customHosts) {
        return Mono.defer(() -> store.replaceHosts(name, checked(customHosts)));
    }

    private List<String> checked(List<String> customHosts) {
        List<String> hosts = customHosts.stream().map(CustomHost::parse).distinct().toList();
        if (hosts.contains(domain)) {
            throw new StoreException.Conflict("the host " + domain + " is the edge's own");
        }
        return hosts;
    }

    /** Gives a runtime another token. Errors, beside the class's: {@link StoreException.Absent}. */
    public Mono<IssuedToken> token(RuntimeName name, Duration life) {
        return Mono.defer(() -> {
            RegisteredRuntime runtime = store.byName(name);
            if (runtime == null) {
                throw new StoreException.Absent("there is no runtime " + name);
            }
            IssuedToken token = issuer.issue(runtime.id(), now().plus(life));
            return store.add(token.stored()).thenReturn(token);
        }).subscribeOn(Schedulers.boundedElastic());
    }

    /**
     * Makes all certificates and tokens of a runtime worthless and disconnects it. Its clients need a new token. Errors,
     * beside the class's: {@link StoreException.Absent}.
     */
    public Mono<RegisteredRuntime> revoke(RuntimeName name) {
        return Uncancellable.of(Mono.defer(() -> store.revoke(name, UUID.randomUUID().toString()))
                .subscribeOn(Schedulers.boundedElastic())
                .doOnNext(revoked -> tunnels.closeAll(revoked.id(), revoked(name)))
                .doOnError(StoreException.Failed.class, failed -> closeAll(name, revoked(name))));
    }

    /** Forgets a runtime and disconnects it. Errors, beside the class's: {@link StoreException.Absent}. */
    public Mono<RegisteredRuntime> delete(RuntimeName name) {
        String reason = "the runtime " + name + " was deleted";
        return Uncancellable.of(store.delete(name).doOnNext(gone -> {
            tunnels.closeAll(gone.id(), reason);
            forgotten.accept(gone);
        }).doOnError(StoreException.Failed.class, failed -> closeAll(name, reason)));
    }

    private static String revoked(RuntimeName name) {
        return "the certificates of " + name + " were revoked; enrol with a new token";
    }

    /** What could not be stored holds in memory: sessions end all the same. */
    private void closeAll(RuntimeName name, String reason) {
        RegisteredRuntime runtime = store.byName(name);
        if (runtime != null) {
            tunnels.closeAll(runtime.id(), reason);
        }
    }

    /** Now, as precise as the store keeps it. */
    private Instant now() {
        return clock.instant().truncatedTo(ChronoUnit.MILLIS);
    }
}
