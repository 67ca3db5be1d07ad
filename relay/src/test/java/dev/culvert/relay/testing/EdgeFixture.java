package dev.culvert.relay.testing;

import static dev.culvert.relay.testing.Results.await;

import dev.culvert.certs.CertificateAuthority;
import dev.culvert.certs.TlsMaterial;
import dev.culvert.certs.tls.TlsContexts;
import dev.culvert.config.HostPort;
import dev.culvert.http.fields.HostName;
import dev.culvert.http.forwarding.ForwardingRules;
import dev.culvert.http.net.EventLoops;
import dev.culvert.http.observe.Telemetry;
import dev.culvert.relay.Admission;
import dev.culvert.relay.Relay;
import dev.culvert.relay.exchange.EdgeContext;
import dev.culvert.relay.exchange.EdgeMeters;
import dev.culvert.relay.exchange.EdgeReporting;
import dev.culvert.relay.exchange.EdgeRuntimes;
import dev.culvert.relay.inbound.EdgeListener;
import dev.culvert.relay.listen.Entrance;
import dev.culvert.relay.quota.CallerLimits;
import dev.culvert.relay.quota.MemoryBudget;
import dev.culvert.relay.quota.OwnLimits;
import dev.culvert.relay.quota.RuntimeQuotas;
import io.netty.util.AsciiString;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** An edge listener on a real port whose only runtime, {@code acme.example}, the test plays. */
public final class EdgeFixture implements AutoCloseable {
    public static final String HOST = "acme.example";
    private static final List<String> PROTOCOLS = List.of("h2", "http/1.1");

    static {
        EventLoopWatch.install();
    }

    public final FakeRelay relay = new FakeRelay();
    public final RuntimeQuotas quotas;
    public final EdgeListener listener;
    public final EventLoops loops = EventLoops.create(1);
    /** Who may call the runtime; null: everybody. */
    public volatile @Nullable Admission admission;
    private final Telemetry telemetry = new Telemetry();

    public EdgeFixture() {
        this(CallerLimits.defaults());
    }

    public EdgeFixture(CallerLimits limits) {
        this(limits, false);
    }

    /** @param asking whether callers are asked for certificates */
    public EdgeFixture(CallerLimits limits, boolean asking) {
        this(limits, null, EdgeReporting.NONE, asking);
    }

    /** @param other answers in place of {@link #relay} */
    public EdgeFixture(CallerLimits limits, @Nullable Relay other) {
        this(limits, other, EdgeReporting.NONE, false);
    }

    public EdgeFixture(CallerLimits limits, EdgeReporting reporting) {
        this(limits, null, reporting, false);
    }

    private EdgeFixture(CallerLimits limits, @Nullable Relay other, EdgeReporting reporting,
            boolean asking) {
        quotas = new RuntimeQuotas(limits.ofRuntime(),
                MemoryBudget.ofProcess(limits.maxBufferedBytes().bytes()));
        EdgeRuntimes runtimes = authority -> HostName.of(authority).equals(HOST)
                ? EdgeRuntimes.RuntimeEndpoint.of("acme/prod", other == null ? relay : other,
                        quotas.of("id-1", OwnLimits.NONE), admission)
                : null;
        var shared = new EdgeContext(runtimes, new ForwardingRules("test", List.of()), limits,
                telemetry, new EdgeMeters(telemetry), AsciiString.cached("https"), null, reporting,
                quotas.memory());
        var material = CertificateAuthority.create("test", Clock.systemUTC())
                .issueServer(List.of(HOST), List.of(), Duration.ofDays(1));
        listener = await(EdgeListener.start(HostPort.parse("127.0.0.1:0"),
                Entrance.Secure.with(asking
                        ? TlsContexts.edgeAsking(material, PROTOCOLS)
                        : TlsContexts.edge(material, PROTOCOLS)),
                shared, loops));
    }

    /** The defaults with short time-outs. */
    public static CallerLimits limits(Duration head, Duration body, Duration response, Duration idle) {
        return CallerLimits.defaults().within(head, body, response, idle);
    }

    public TlsCaller caller() {
        return new TlsCaller(listener.address().port());
    }

    /** One that shows a certificate. */
    public TlsCaller caller(TlsMaterial identity) {
        return new TlsCaller(listener.address().port(), identity);
    }

    public FrameCaller http2() {
        return new FrameCaller(listener.address().port());
    }

    /** Connections that ended with this error of HTTP/2. */
    public double http2Errors(String error) {
        return telemetry.registry().get("culvert.edge.http2.errors").tag("error", error).counter().count();
    }

    /** Requests that are being served. */
    public double active() {
        return telemetry.registry().get("culvert.edge.active.requests").gauge().value();
    }

    @Override
    public void close() {
        listener.stop(Duration.ZERO).block();
        loops.disposeLater(Duration.ZERO, Duration.ofSeconds(2)).block();
        telemetry.close();
    }
}
