package dev.culvert.server.page;

import dev.culvert.relay.quota.RuntimeQuota;
import dev.culvert.relay.quota.RuntimeQuotas;
import dev.culvert.relay.quota.RuntimeUsage;
import dev.culvert.server.runtime.RegisteredRuntime;
import dev.culvert.server.runtime.RuntimeStore;
import dev.culvert.server.runtime.SessionView;
import dev.culvert.server.runtime.TunnelDirectory;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Gathers what pages show of runtimes, from memory. Thread-safe; never blocks. */
final class RuntimeRows {
    private static final double NANOS = 1e9;
    /** A rate over a longer time says nothing about now. */
    private static final long OLD_NANOS = 10_000_000_000L;

    private final RuntimeStore store;
    private final TunnelDirectory tunnels;
    private final RuntimeQuotas quotas;
    private final Map<String, Sample> samples = new ConcurrentHashMap<>();

    RuntimeRows(RuntimeStore store, TunnelDirectory tunnels, RuntimeQuotas quotas) {
        this.store = store;
        this.tunnels = tunnels;
        this.quotas = quotas;
    }

    /** The bytes of a runtime at a time, and their rate before. */
    private record Sample(long nanos, long bytes, double rate) {}

    RuntimeRow of(RegisteredRuntime runtime) {
        return of(runtime, tunnels.sessionsOf(runtime.id()));
    }

    RuntimeRow of(RegisteredRuntime runtime, List<SessionView> sessions) {
        int streams = sessions.stream().mapToInt(SessionView::streams).sum();
        return new RuntimeRow(runtime.name(), runtime.host(), state(runtime),
                sessions.isEmpty() ? tunnels.lostAt(runtime.id()) : since(sessions),
                sessions.stream()
                        .mapToDouble(SessionView::rttSeconds)
                        .filter(Double::isFinite)
                        .max()
                        .orElse(Double.NaN),
                streams, rate(runtime.id(), streams),
                sessions.stream()
                        .map(SessionView::version)
                        .distinct()
                        .sorted()
                        .collect(
                                Collectors.joining(", ")),
                sessions.size(),
                sessions.stream()
                        .map(SessionView::certificateUntil)
                        .filter(Objects::nonNull)
                        .min(Comparator.naturalOrder())
                        .orElse(null),
                tunnels.waitingFor(runtime.id()).size());
    }

    RuntimeState state(RegisteredRuntime runtime) {
        if (runtime.upstream() != null) {
            return RuntimeState.HOSTED;
        }
        return switch (tunnels.stateOf(runtime.id())) {
            case CONNECTED -> RuntimeState.CONNECTED;
            case RECONNECTING -> RuntimeState.RECONNECTING;
            case DISCONNECTED -> runtime.connected() == null
                    ? RuntimeState.NEW
                    : RuntimeState.DISCONNECTED;
        };
    }

    private static @Nullable Instant since(List<SessionView> sessions) {
        return sessions.stream().map(SessionView::since).min(Instant::compareTo).orElse(null);
    }

    /** Without a measurement it is 0 if nothing runs, which is true of most runtimes most of the time. */
    private double rate(String runtimeId, int streams) {
        Sample sample = samples.get(runtimeId);
        return sample != null && Double.isFinite(sample.rate) ? sample.rate : streams == 0 ? 0 : Double.NaN;
    }

    /** Measures the rates of some runtimes, and forgets all others. */
    void sample(Set<String> runtimeIds) {
        samples.keySet().retainAll(runtimeIds);
        long now = System.nanoTime();
        for (String id : runtimeIds) {
            RuntimeQuota quota = quotas.known(id);
            RuntimeUsage usage = quota == null ? null : quota.usage();
            long bytes = usage == null ? 0 : usage.bytesIn() + usage.bytesOut();
            samples.compute(id, (any, before) -> before == null || now - before.nanos > OLD_NANOS
                    ? new Sample(now, bytes, Double.NaN)
                    : new Sample(now, bytes, (bytes - before.bytes) * NANOS / (now - before.nanos)));
        }
    }

    RuntimeStore store() {
        return store;
    }

    TunnelDirectory tunnels() {
        return tunnels;
    }
}
