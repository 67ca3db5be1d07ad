package dev.culvert.relay.inbound;

import static dev.culvert.relay.testing.Results.await;

import dev.culvert.config.HostPort;
import dev.culvert.http.fields.HostName;
import dev.culvert.http.forwarding.ForwardingRules;
import dev.culvert.http.net.EventLoops;
import dev.culvert.http.observe.Telemetry;
import dev.culvert.relay.exchange.EdgeContext;
import dev.culvert.relay.exchange.EdgeMeters;
import dev.culvert.relay.exchange.EdgeReporting;
import dev.culvert.relay.exchange.EdgeRuntimes;
import dev.culvert.relay.inbound.raw.RawListener;
import dev.culvert.relay.quota.CallerLimits;
import dev.culvert.relay.quota.MemoryBudget;
import dev.culvert.relay.quota.OwnLimits;
import dev.culvert.relay.quota.RuntimeQuotas;
import dev.culvert.relay.testing.ClientHelloBytes;
import dev.culvert.relay.testing.FakeRelay;
import io.netty.util.AsciiString;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.time.Duration;
import java.util.List;

/** A listener for raw connections on a real port whose only runtime, {@code acme.example}, the test plays. */
public final class RawFixture implements AutoCloseable {
    public static final String HOST = "acme.example";
    private static final int PATIENCE_MILLIS = 10_000;

    public final FakeRelay relay = new FakeRelay();
    final RuntimeQuotas quotas;
    public final RawListener listener;
    final Telemetry telemetry = new Telemetry();
    private final EventLoops loops = EventLoops.create(1);

    public RawFixture() {
        this(CallerLimits.defaults());
    }

    public RawFixture(CallerLimits limits) {
        quotas = new RuntimeQuotas(limits.ofRuntime(),
                MemoryBudget.ofProcess(limits.maxBufferedBytes().bytes()));
        EdgeRuntimes runtimes = authority -> HostName.of(authority).equals(HOST)
                ? new EdgeRuntimes.RuntimeEndpoint("acme/prod", relay, quotas.of("id-1", OwnLimits.NONE))
                : null;
        var shared = new EdgeContext(runtimes, new ForwardingRules("test", List.of()), limits,
                telemetry, new EdgeMeters(telemetry), AsciiString.cached("https"), null, EdgeReporting.NONE,
                quotas.memory());
        listener = await(RawListener.start(HostPort.parse("127.0.0.1:0"), shared, loops));
    }

    /** A plain socket to the listener. */
    public Socket connect() throws IOException {
        Socket socket = new Socket();
        socket.setReceiveBufferSize(64 << 10);
        socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), listener.address().port()));
        socket.setSoTimeout(PATIENCE_MILLIS);
        return socket;
    }

    /** The same, and the hello is sent. */
    public Socket ask(String serverName) throws IOException {
        Socket socket = connect();
        socket.getOutputStream().write(ClientHelloBytes.real(serverName));
        return socket;
    }

    /** Raw connections of the runtime that are open. */
    public double open() {
        return telemetry.registry()
                .get("culvert.tcp.connections")
                .tag("runtime", "acme/prod")
                .gauge()
                .value();
    }

    /** Problems counted for this cause. */
    public double problems(String cause) {
        return telemetry.registry()
                .find("culvert.problems")
                .tag("cause", cause)
                .counters()
                .stream()
                .mapToDouble(counter -> counter.count())
                .sum();
    }

    @Override
    public void close() {
        listener.stop(Duration.ZERO).block();
        loops.disposeLater(Duration.ZERO, Duration.ofSeconds(2)).block();
        telemetry.close();
    }
}
