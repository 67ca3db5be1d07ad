package dev.culvert.server.admin;

import com.fasterxml.jackson.annotation.JsonInclude;
import dev.culvert.http.observe.AuditTrail;
import dev.culvert.server.runtime.EnrolmentCredential;
import dev.culvert.server.runtime.IssuedToken;
import dev.culvert.server.runtime.RegisteredRuntime;
import dev.culvert.server.runtime.RuntimeRegistrar;
import dev.culvert.server.runtime.RuntimeUpstream;
import dev.culvert.server.runtime.SessionView;
import dev.culvert.server.runtime.TunnelState;
import dev.culvert.server.runtime.WaitingClient;
import dev.culvert.server.store.AuditEntry;
import dev.culvert.server.token.AdminAccess;
import dev.culvert.server.token.NamedToken;
import dev.culvert.server.tunnel.ServerEvent;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The responses of the admin API: records whose components are the JSON's members, as in openapi.yaml. */
public final class AdminJson {
    private AdminJson() {}

    public record RuntimeView(String account, String name, String host, List<String> hosts,
            @JsonInclude(JsonInclude.Include.NON_NULL) @Nullable String upstream, String state,
            List<TunnelView> tunnels, List<WaitingView> waiting) {
        private static final String HOSTED = "hosted";

        static RuntimeView of(RegisteredRuntime runtime, TunnelState state, List<SessionView> sessions,
                List<WaitingClient> waiting) {
            return new RuntimeView(runtime.name().account(), runtime.name().name(), runtime.host(),
                    runtime.hosts(), upstreamOf(runtime),
                    runtime.upstream() == null ? state.word() : HOSTED,
                    sessions.stream().map(TunnelView::of).toList(),
                    waiting.stream().map(WaitingView::of).toList());
        }
    }

    /** A client that waits, or was refused, because another instance serves the runtime. */
    public record WaitingView(String remote, String version, String since, String seen, String state,
            int priority) {
        static WaitingView of(WaitingClient client) {
            return new WaitingView(client.remote(), client.version(), client.since().toString(),
                    client.seen().toString(), client.state().word(),
                    client.priority());
        }
    }

    public record TunnelEventView(String at, String account, String name, @Nullable String tunnel,
            long generation,
            @Nullable String remote, @Nullable String cause) {
        static TunnelEventView of(ServerEvent.OfTunnel event) {
            return new TunnelEventView(event.at().toString(), event.runtime().account(),
                    event.runtime().name(),
                    event.session(), event.generation(), event.remote(), event.cause());
        }
    }

    record MissedView(long count) {}

    record StoppingView(String at) {}

    public record TunnelView(String id, long generation, String state, String since,
            @Nullable Double rttSeconds,
            int streams, String remote, String version) {
        static TunnelView of(SessionView session) {
            return new TunnelView(session.id(), session.generation(), session.state(),
                    session.since().toString(),
                    rtt(session), session.streams(), session.remote(), session.version());
        }
    }

    /** A tunnel in the list of all: with its runtime, or null when the runtime was just deleted. */
    public record RuntimeTunnelView(String id, @Nullable String account, @Nullable String name,
            long generation,
            String state,
            String since, @Nullable Double rttSeconds, int streams, String remote, String version) {
        static RuntimeTunnelView of(SessionView session, @Nullable RegisteredRuntime runtime) {
            return new RuntimeTunnelView(session.id(), runtime == null ? null : runtime.name().account(),
                    runtime == null ? null : runtime.name().name(), session.generation(), session.state(),
                    session.since().toString(), rtt(session), session.streams(), session.remote(),
                    session.version());
        }
    }

    public record CreatedRuntimeView(String account, String name, String host, List<String> hosts,
            String enrolmentToken,
            String enrolmentExpiresAt) {
        static CreatedRuntimeView of(RuntimeRegistrar.Registration made) {
            RegisteredRuntime runtime = made.runtime();
            return new CreatedRuntimeView(runtime.name().account(), runtime.name().name(), runtime.host(),
                    runtime.hosts(), made.token().text(), made.token().stored().expires().toString());
        }
    }

    /** A new runtime whose token the caller has made. */
    public record ProvidedRuntimeView(String account, String name, String host, List<String> hosts,
            String enrolmentExpiresAt) {
        static ProvidedRuntimeView of(RegisteredRuntime runtime, EnrolmentCredential credential) {
            return new ProvidedRuntimeView(runtime.name().account(), runtime.name().name(), runtime.host(),
                    runtime.hosts(), credential.expires().toString());
        }
    }

    /** A new runtime with an upstream, which has no token. */
    public record HostedRuntimeView(String account, String name, String host, List<String> hosts,
            @Nullable String upstream) {
        static HostedRuntimeView of(RegisteredRuntime runtime) {
            return new HostedRuntimeView(runtime.name().account(), runtime.name().name(), runtime.host(),
                    runtime.hosts(), upstreamOf(runtime));
        }
    }

    public record TokenView(String enrolmentToken, String enrolmentExpiresAt) {
        static TokenView of(IssuedToken token) {
            return new TokenView(token.text(), token.stored().expires().toString());
        }
    }

    public record AdminTokenView(String name, String role, String created, @Nullable String earlierUntil) {
        static AdminTokenView of(NamedToken token) {
            return new AdminTokenView(token.name(), token.role().word(), token.created().toString(),
                    until(token));
        }
    }

    public record IssuedAdminTokenView(String name, String role, String token,
            @Nullable String earlierUntil) {
        static IssuedAdminTokenView of(AdminAccess.Issued issued) {
            return new IssuedAdminTokenView(issued.token().name(), issued.token().role().word(),
                    issued.text(),
                    until(issued.token()));
        }
    }

    public record AuditView(String time, String user, String action, String entity, String object,
            String decision, String requestId, String address) {
        static AuditView of(AuditEntry entry) {
            AuditTrail.Entry of = entry.entry();
            return new AuditView(entry.time().toString(), of.user(), of.action(), of.entity(), of.object(),
                    of.decision().word(), entry.requestId(), entry.address());
        }
    }

    private static @Nullable String upstreamOf(RegisteredRuntime runtime) {
        RuntimeUpstream upstream = runtime.upstream();
        return upstream == null ? null : upstream.toString();
    }

    private static @Nullable String until(NamedToken token) {
        Instant until = token.earlierUntil();
        return until == null ? null : until.toString();
    }

    /** Null before the first round trip: JSON has no NaN. */
    private static @Nullable Double rtt(SessionView session) {
        return Double.isFinite(session.rttSeconds()) ? session.rttSeconds() : null;
    }
}
