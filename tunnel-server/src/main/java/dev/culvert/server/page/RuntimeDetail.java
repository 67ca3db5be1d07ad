package dev.culvert.server.page;

import dev.culvert.admin.AdminRole;
import dev.culvert.server.runtime.RegisteredRuntime;
import dev.culvert.server.runtime.RuntimeName;
import dev.culvert.server.runtime.RuntimeUpstream;
import dev.culvert.server.runtime.SessionView;
import dev.culvert.server.runtime.WaitingClient;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What the page of one runtime shows.
 *
 * @param row its line in the list
 * @param hosts its custom hosts
 * @param created when it was created
 * @param connected when a client connected first; null: never
 * @param upstream its upstream, for a hosted one; null: it has a tunnel
 * @param sessions its sessions, the newest first
 * @param waiting the instances that wait
 * @param role the role of the person
 * @param now the time of the page
 * @param live the position of the live updates
 */
public record RuntimeDetail(RuntimeRow row, List<String> hosts, Instant created, @Nullable Instant connected,
        @Nullable String upstream, List<SessionView> sessions, List<WaitingClient> waiting, AdminRole role,
        Instant now, String live) {
    static RuntimeDetail of(RegisteredRuntime runtime, RuntimeRows rows, Instant now, AdminRole role,
            String live) {
        List<SessionView> sessions = rows.tunnels().sessionsOf(runtime.id());
        RuntimeUpstream upstream = runtime.upstream();
        return new RuntimeDetail(rows.of(runtime, sessions), runtime.hosts(), runtime.created(),
                runtime.connected(), upstream == null ? null : upstream.toString(),
                sessions.stream().sorted(Comparator.comparing(SessionView::since).reversed()).toList(),
                rows.tunnels().waitingFor(runtime.id()), role, now, live);
    }

    /** The topic of its live updates. */
    public String topic() {
        return topic(row.name());
    }

    /** The path of its live updates. */
    public String livePath() {
        return "/live?since=" + live + "&topic=" + RuntimeList.encoded(topic());
    }

    static String topic(RuntimeName name) {
        return "detail:" + name;
    }
}
