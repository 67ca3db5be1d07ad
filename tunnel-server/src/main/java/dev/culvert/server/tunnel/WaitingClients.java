package dev.culvert.server.tunnel;

import dev.culvert.protocol.frame.Hello;
import dev.culvert.server.runtime.WaitingClient;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/** The instances that one runtime's owner keeps waiting. Guarded by the runtime's tunnel. */
final class WaitingClients {
    /** Of a runtime; the one not seen for longest makes room. */
    static final int MAX = 8;
    /** They come every 30 to 60 s; who did not is gone. */
    static final Duration GONE = Duration.ofSeconds(90);

    private final Map<UUID, WaitingClient> byInstance = new LinkedHashMap<>();

    /** An instance was refused. Returns whether it is new here. */
    boolean refused(Hello hello, String remote, Instant now) {
        byInstance.values().removeIf(client -> isGone(client, now));
        WaitingClient before = byInstance.remove(instance(hello));
        if (byInstance.size() >= MAX) {
            byInstance.remove(byInstance.keySet().iterator().next());
        }
        byInstance.put(instance(hello), new WaitingClient(remote, hello.software(),
                before == null ? now : before.since(), now));
        return before == null;
    }

    /** An instance was let in. */
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
