package dev.culvert.server;

import dev.culvert.http.fields.HostName;
import dev.culvert.relay.Admission;
import dev.culvert.relay.Relay;
import dev.culvert.relay.exchange.EdgeRuntimes;
import dev.culvert.relay.quota.RuntimeQuota;
import dev.culvert.relay.quota.RuntimeQuotas;
import dev.culvert.server.access.AccessControl;
import dev.culvert.server.direct.DirectHosts;
import dev.culvert.server.direct.PlatformHost;
import dev.culvert.server.runtime.RegisteredRuntime;
import dev.culvert.server.runtime.RuntimeStore;
import dev.culvert.server.runtime.RuntimeUpstream;
import dev.culvert.server.tunnel.TunnelRegistry;
import dev.culvert.server.tunnel.TunnelRelay;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The endpoints of the registered runtimes and of the platform's host, as the edge uses them. Those of
 * runtimes are created at the first request after their runtime was registered or changed. Thread-safe.
 */
final class RuntimeEndpoints implements EdgeRuntimes {
    private final RuntimeStore store;
    private final RuntimeQuotas quotas;
    private final TunnelRegistry registry;
    private final AccessControl access;
    private final Webhooks webhooks;
    private final DirectHosts direct;
    private final @Nullable RuntimeEndpoint platform;
    /** By the runtimes' ids: those that had a request, until a minute after their deletion. */
    private final Map<String, Known> byId = new ConcurrentHashMap<>();

    private record Known(RegisteredRuntime runtime, RuntimeEndpoint endpoint) {}

    RuntimeEndpoints(RuntimeStore store, RuntimeQuotas quotas, TunnelRegistry registry, AccessControl access,
            Webhooks webhooks, DirectHosts direct) {
        this.store = store;
        this.quotas = quotas;
        this.registry = registry;
        this.access = access;
        this.webhooks = webhooks;
        this.direct = direct;
        PlatformHost host = direct.platform();
        this.platform = host == null ? null : platform(host);
    }

    @Override
    @SuppressWarnings("ReferenceEquality") // the store replaces the runtime when it changes
    public @Nullable RuntimeEndpoint byHost(String authority) {
        RegisteredRuntime runtime = store.byHost(authority);
        if (runtime == null) {
            return platform != null && direct.isPlatforms(HostName.of(authority)) ? platform : null;
        }
        Known known = byId.get(runtime.id());
        if (known == null || known.runtime != runtime) {
            known = new Known(runtime, endpoint(runtime));
            byId.put(runtime.id(), known);
        }
        quotas.of(runtime.id(), runtime.limits()); // another thread may have seen older limits after this one
        return known.endpoint;
    }

    private RuntimeEndpoint endpoint(RegisteredRuntime runtime) {
        RuntimeQuota quota = quotas.of(runtime.id(), runtime.limits());
        RuntimeUpstream upstream = runtime.upstream();
        if (upstream != null) {
            return direct(runtime.name().toString(), direct.relay(runtime.id(), upstream, quota), quota,
                    access.of(runtime.id(), runtime.access()));
        }
        Relay tunnel = new TunnelRelay(registry, runtime, quota);
        return RuntimeEndpoint.of(runtime.name().toString(), webhooks.inFrontOf(tunnel, runtime), quota,
                access.of(runtime.id(), runtime.access()));
    }

    /** Without rules the platform's service is open, whatever holds for runtimes: it knows its callers. */
    private RuntimeEndpoint platform(PlatformHost host) {
        RuntimeQuota quota = quotas.of(PlatformHost.NAME, host.limits());
        return direct(PlatformHost.NAME, direct.relay(PlatformHost.NAME, host.upstream(), quota), quota,
                host.rules().isEmpty() ? null : access.of(PlatformHost.NAME, host.rules()));
    }

    /** An endpoint without a tunnel: no inbox, because durable routes are announced through tunnels. */
    private static RuntimeEndpoint direct(String name, Relay relay, RuntimeQuota quota,
            @Nullable Admission admission) {
        RuntimeEndpoint admitted = RuntimeEndpoint.of(name, relay, quota, admission);
        return new RuntimeEndpoint(name, DirectHosts.guarded(admitted.relay()), quota, admitted.restricted());
    }

    /** Drops the endpoint of a deleted runtime. */
    void forget(String runtimeId) {
        byId.remove(runtimeId);
    }
}
