package dev.culvert.server;

import dev.culvert.server.runtime.SessionView;
import dev.culvert.server.runtime.TunnelDirectory;
import dev.culvert.server.runtime.TunnelState;
import dev.culvert.server.runtime.WaitingClient;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;

/** Live tunnels as a test wants them. */
public final class FakeTunnels implements TunnelDirectory {
    public final List<SessionView> open = new CopyOnWriteArrayList<>();
    public final List<String> closedReasons = new CopyOnWriteArrayList<>();

    @Override
    public List<SessionView> sessions() {
        return List.copyOf(open);
    }

    @Override
    public List<SessionView> sessionsOf(String runtimeId) {
        return open.stream().filter(session -> session.runtimeId().equals(runtimeId)).toList();
    }

    @Override
    public List<WaitingClient> waitingFor(String runtimeId) {
        return List.of();
    }

    @Override
    public TunnelState stateOf(String runtimeId) {
        return sessionsOf(runtimeId).isEmpty() ? TunnelState.DISCONNECTED : TunnelState.CONNECTED;
    }

    @Override
    public @Nullable Instant lostAt(String runtimeId) {
        return null;
    }

    @Override
    public boolean drain(String sessionId) {
        return open.stream().anyMatch(session -> session.id().equals(sessionId));
    }

    @Override
    public boolean close(String sessionId) {
        return open.removeIf(session -> session.id().equals(sessionId));
    }

    @Override
    public void closeAll(String runtimeId, String reason) {
        if (open.removeIf(session -> session.runtimeId().equals(runtimeId))) {
            closedReasons.add(reason);
        }
    }
}
