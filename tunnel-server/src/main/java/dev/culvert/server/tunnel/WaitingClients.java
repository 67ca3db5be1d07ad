package dev.culvert.server.tunnel;

import dev.culvert.protocol.frame.Hello;
import dev.culvert.server.runtime.WaitingClient;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/** The instances that wait because another instance owns the runtime's tunnel. Guarded by the tunnel. */
final class WaitingClients {
    /** The maximum for one runtime. When full, the instance not seen for longest is dropped. */
    static final int MAX = 8;
    /** Waiting instances try every 30 to 60 s. An instance not seen for this long is gone. */
    static final Duration GONE = Duration.ofSeconds(90);

    private final Map<UUID, WaitingClient> byInstance = new LinkedHashMap<>();

    /** Records a refused instance. Returns whether it is new here. */
    boolean refused(Hello hello, String remote, Instant now) {
        byInstance.values().removeIf(client -> isGone(client, now));
        WaitingClient before = byInstance.remove(instance(hello));
        if (byInstance.size() >= MAX) {
            byInstance.remove(byInstance.keySet().iterator().next());
        }
        byInstance.put(instance(hello), new WaitingClient(remote, hello.software(),
                before == null ? now : before.since(), now, WaitingClient.State.REFUSED, 0));
        return before == null;
    }

    /** Removes an instance that was admitted. */
    void admitted(Hello hello) {
        byInstance.remove(instance(hello));
    }

    List<WaitingClient> at(Instant now) {
        return byInstance.values().stream().filter(client -> !isGone(client, now)).toList();
    }

    private static boolean isGone(WaitingClient client, Instant now) {
        return client.seen().plus(GONE).isBefore(now);
    }

    private static UUID instance(Hello hello) {
        return new UUID(hello.instanceHigh(), hello.instanceLow());
    }
}
