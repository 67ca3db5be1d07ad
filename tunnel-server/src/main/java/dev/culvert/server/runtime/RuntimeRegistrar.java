package dev.culvert.server.runtime;

import dev.culvert.store.StoreException;
import dev.culvert.store.Uncancellable;
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
 * Registers runtimes and issues their enrolment tokens. Callable on any thread; never blocks: random bytes,
 * which Java reads from a file, are drawn on the bounded elastic scheduler. Each method starts its work on
 * subscription. Cancelling later does not undo the work, and a revoked or deleted runtime is disconnected all
 * the same. Errors: {@link StoreException}, and {@link InvalidNameException} for an invalid name or host.
 */
public final class RuntimeRegistrar {
    /**
     * The lifetime of a token: long enough to carry it to the cluster, and too short for a token found in old
     * logs to be usable.
     */
    public static final Duration TOKEN_LIFE = Duration.ofHours(1);

    private final RuntimeStore store;
    private final TunnelDirectory tunnels;
    private final TokenIssuer issuer;
    private final String domain;
    private final Clock clock;
    private final Consumer<RegisteredRuntime> forgotten;
    private final DirectUpstreams upstreams;

    /** Makes a registrar of runtimes with tunnels only. */
    public RuntimeRegistrar(RuntimeStore store, TunnelDirectory tunnels, TokenIssuer issuer, String domain,
            Clock clock, Consumer<RegisteredRuntime> forgotten) {
        this(store, tunnels, issuer, domain, clock, forgotten, DirectUpstreams.NONE);
    }

    /**
     * Makes the registrar.
     *
     * @param domain the edge's domain, in lower case
     * @param forgotten called with each deleted runtime, on the store's thread
     * @param upstreams knows the hosts that lead to upstreams
     */
    public RuntimeRegistrar(RuntimeStore store, TunnelDirectory tunnels, TokenIssuer issuer, String domain,
            Clock clock, Consumer<RegisteredRuntime> forgotten, DirectUpstreams upstreams) {
        this.upstreams = upstreams;
        this.store = store;
        this.tunnels = tunnels;
        this.issuer = issuer;
        this.domain = domain;
        this.clock = clock;
        this.forgotten = forgotten;
    }

    /**
     * A new runtime with the token of its first client.
     *
     * @param runtime the registered runtime
     * @param token shown this once
     */
    public record Registration(RegisteredRuntime runtime, IssuedToken token) {}

    /**
     * Registers a runtime. Errors, beside the class's: {@link StoreException.Conflict} when a host is taken.
     */
    public Mono<Registration> register(RuntimeName name, List<String> customHosts) {
        return Mono.defer(() -> {
            RegisteredRuntime runtime = named(name, checked(customHosts));
            IssuedToken token = issuer.issue(runtime.id(), now().plus(TOKEN_LIFE));
            return store.create(runtime, token.stored()).map(made -> new Registration(made, token));
        }).subscribeOn(Schedulers.boundedElastic());
    }

    /**
     * Registers a hosted runtime: one that has an upstream in place of a tunnel, and therefore no tokens.
     * Errors, beside the class's: {@link StoreException.Conflict} when a host is taken.
     */
    public Mono<RegisteredRuntime> register(RuntimeName name, List<String> customHosts,
            RuntimeUpstream upstream) {
        return Mono.defer(() -> {
            List<String> hosts = checked(customHosts);
            upstreams.check(upstream);
            return store.create(named(name, hosts).withUpstream(upstream));
        }).subscribeOn(Schedulers.boundedElastic());
    }

    /**
     * Registers a runtime whose first token another part has made. The same call again emits the runtime as
     * it is now. Errors, beside the class's: {@link StoreException.Conflict} when a host is taken, or the
     * runtime was created by another call.
     */
    public Mono<RegisteredRuntime> provide(RuntimeName name, List<String> customHosts,
            EnrolmentCredential credential, RuntimeOrigin origin) {
        return Mono.defer(() -> {
            RegisteredRuntime runtime = named(name, checked(customHosts)).withOrigin(origin);
            return store.create(runtime, credential.of(runtime.id()));
        }).subscribeOn(Schedulers.boundedElastic());
    }

    /** Registers a hosted runtime. The same call again has the same result, as above. */
    public Mono<RegisteredRuntime> provide(RuntimeName name, List<String> customHosts,
            RuntimeUpstream upstream, RuntimeOrigin origin) {
        return Mono.defer(() -> {
            List<String> hosts = checked(customHosts);
            upstreams.check(upstream);
            return store.create(named(name, hosts).withUpstream(upstream).withOrigin(origin));
        }).subscribeOn(Schedulers.boundedElastic());
    }

    private RegisteredRuntime named(RuntimeName name, List<String> hosts) {
        return new RegisteredRuntime(UUID.randomUUID().toString(), UUID.randomUUID().toString(), name,
                name.label() + '.' + domain, hosts, now());
    }

    /**
     * Replaces the upstream of a hosted runtime. Requests that run have a minute to end. Errors, beside the
     * class's: {@link StoreException.Absent}, {@link StoreException.Conflict} for a runtime with a tunnel.
     */
    public Mono<RegisteredRuntime> replaceUpstream(RuntimeName name, RuntimeUpstream upstream) {
        return Mono.defer(() -> {
            upstreams.check(upstream);
            return store.replaceUpstream(name, upstream);
        }).subscribeOn(Schedulers.boundedElastic());
    }

    /**
     * Replaces a runtime's custom hosts; its tunnels are not touched. Errors, beside the class's: {@link
     * StoreException.Absent}, also for a runtime out of {@code scope}, {@link StoreException.Conflict} when a
     * host is taken.
     */
    public Mono<RegisteredRuntime> replaceHosts(RuntimeName name, List<String> customHosts,
            RuntimeScope scope) {
        return Mono.defer(() -> store.replaceHosts(name, checked(customHosts), scope));
    }

    /** Replaces the custom hosts of any runtime. */
    public Mono<RegisteredRuntime> replaceHosts(RuntimeName name, List<String> customHosts) {
        return replaceHosts(name, customHosts, RuntimeScope.ALL);
    }

    private List<String> checked(List<String> customHosts) {
        List<String> hosts = customHosts.stream().map(CustomHost::parse).distinct().toList();
        if (hosts.contains(domain)) {
            throw new StoreException.Conflict("the host " + domain + " is the edge's own");
        }
        hosts.stream().filter(upstreams::isPlatforms).findFirst().ifPresent(host -> {
            throw new StoreException.Conflict(
                    "the host " + host + " is the platform's (edge.platform.host)");
        });
        return hosts;
    }

    /**
     * Issues another token for a runtime. Errors, beside the class's: {@link StoreException.Absent}, {@link
     * StoreException.Conflict} for a hosted runtime.
     */
    public Mono<IssuedToken> token(RuntimeName name, Duration life) {
        return Mono.defer(() -> {
            RegisteredRuntime runtime = store.byName(name);
            if (runtime == null) {
                throw new StoreException.Absent("there is no runtime " + name);
            }
            requireTunnel(runtime);
            IssuedToken token = issuer.issue(runtime.id(), now().plus(life));
            return store.add(token.stored()).thenReturn(token);
        }).subscribeOn(Schedulers.boundedElastic());
    }

    /**
     * Revokes all certificates and tokens of a runtime and disconnects it. Its clients need a new token.
     * Errors, beside the class's: {@link StoreException.Absent}, {@link StoreException.Conflict} for a hosted
     * runtime.
     */
    public Mono<RegisteredRuntime> revoke(RuntimeName name) {
        return Uncancellable.of(Mono.defer(() -> {
            RegisteredRuntime runtime = store.byName(name);
            if (runtime != null) {
                requireTunnel(runtime);
            }
            return store.revoke(name, UUID.randomUUID().toString());
        })
                .subscribeOn(Schedulers.boundedElastic())
                .doOnNext(revoked -> tunnels.closeAll(revoked.id(), revoked(name)))
                .doOnError(StoreException.Failed.class, failed -> closeAll(name, revoked(name))));
    }

    /** Deletes any runtime, as {@link #delete(RuntimeName, RuntimeScope)}. */
    public Mono<RegisteredRuntime> delete(RuntimeName name) {
        return delete(name, RuntimeScope.ALL);
    }

    /**
     * Deletes a runtime and disconnects it. Errors, beside the class's: {@link StoreException.Absent}, also
     * for a runtime out of {@code scope}.
     */
    public Mono<RegisteredRuntime> delete(RuntimeName name, RuntimeScope scope) {
        String reason = "the runtime " + name + " was deleted";
        return Uncancellable.of(store.delete(name, scope).doOnNext(gone -> {
            tunnels.closeAll(gone.id(), reason);
            forgotten.accept(gone);
        }).doOnError(StoreException.Failed.class, failed -> closeAll(name, reason)));
    }

    private static void requireTunnel(RegisteredRuntime runtime) {
        if (runtime.upstream() != null) {
            throw new StoreException.Conflict("the runtime " + runtime.name()
                    + " is hosted: its requests go to its upstream, and it has no tunnel, tokens or certificates");
        }
    }

    private static String revoked(RuntimeName name) {
        return "the certificates of " + name + " were revoked; enrol with a new token";
    }

    /**
     * Closes the sessions of a runtime whose change could not be stored: the change is effective in memory.
     */
    private void closeAll(RuntimeName name, String reason) {
        RegisteredRuntime runtime = store.byName(name);
        if (runtime != null) {
            tunnels.closeAll(runtime.id(), reason);
        }
    }

    /** The present time in the store's precision, milliseconds. */
    private Instant now() {
        return clock.instant().truncatedTo(ChronoUnit.MILLIS);
    }
}
