package dev.culvert.inbox;

import static dev.culvert.relay.testing.Results.await;

import dev.culvert.http.problem.Problem.Hop;
import dev.culvert.inbox.intake.InboxRelay;
import dev.culvert.inbox.model.Delivery;
import dev.culvert.inbox.model.InboxConfig;
import dev.culvert.inbox.model.InboxSetup;
import dev.culvert.inbox.model.WebhookSecrets;
import dev.culvert.inbox.model.WebhookState;
import dev.culvert.inbox.store.CommitThread;
import dev.culvert.inbox.store.InboxFiles;
import dev.culvert.relay.Relay;
import dev.culvert.relay.RelayRequest;
import dev.culvert.relay.RequestSink;
import dev.culvert.relay.route.DurableMatch.DurableRoute;
import dev.culvert.relay.route.DurableRoutes;
import dev.culvert.relay.testing.FakeRelay;
import dev.culvert.store.StoreException;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.netty.buffer.Unpooled;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.Http2Headers;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;

/** An inbox of a folder, its runtime played by a {@link FakeRelay}, and callers. */
public final class InboxFixture implements AutoCloseable, Delivery {
    public static final String RUNTIME = "r1";
    public static final InboxConfig CONFIG = InboxConfig.defaults();

    static {
        Awaitility.setDefaultPollDelay(Duration.ZERO);
        Awaitility.setDefaultPollInterval(Duration.ofMillis(10));
    }

    public final FakeRelay runtime = new FakeRelay();
    public final FakeRelay direct = new FakeRelay();
    final MovableClock clock;
    public final SimpleMeterRegistry meters = new SimpleMeterRegistry();
    private final Set<String> away = ConcurrentHashMap.newKeySet();
    private final EventLoopGroup loops = new MultiThreadIoEventLoopGroup(2, NioIoHandler.newFactory());
    public final Inbox inbox;
    public volatile DurableRoutes routes = DurableRoutes.byDefault();
    volatile InetAddress caller = InetAddress.getLoopbackAddress();
    volatile WebhookSecrets secrets = WebhookSecrets.NONE;

    public InboxFixture(Path folder, InboxConfig config, MovableClock clock) {
        this.clock = clock;
        this.inbox = await(Inbox.open(setup(folder, config)));
        inbox.lease.beat();
    }

    public InboxFixture(Path folder) {
        this(folder, CONFIG, new MovableClock());
    }

    /** One of files that a test has prepared. */
    public InboxFixture(Path folder, InboxFiles files) {
        this.clock = new MovableClock();
        this.inbox = Inbox.of(setup(folder, CONFIG), files);
    }

    private InboxSetup setup(Path folder, InboxConfig config) {
        return new InboxSetup(folder, config, this, loops, meters, clock);
    }

    @Override
    public Relay relayTo(String runtimeId) {
        return runtime;
    }

    @Override
    public boolean isReachable(String runtimeId) {
        return !away.contains(runtimeId);
    }

    /** Time passes. */
    public void advance(Duration time) {
        clock.advance(time);
        tick();
    }

    /** Runs the work of each second now. */
    public void tick() {
        inbox.lease.beat();
    }

    /** Runs the work of each minute now. */
    public void forgetOld() {
        inbox.webhooks.forgetOld();
    }

    /** Runs a job on the commit thread. */
    public <T> void submit(CommitThread.Job<T> job, Consumer<T> done, Consumer<StoreException> failed) {
        inbox.commits.submit(job, 0, done, failed);
    }

    public Map<WebhookState, Long> counts() {
        return inbox.meters.counts();
    }

    public void cut() {
        away.add(RUNTIME);
    }

    public void restore() {
        away.remove(RUNTIME);
        inbox.reachable(RUNTIME);
    }

    /** Posts a webhook; returns at once. */
    public Reply post(String path, String body, String... fields) {
        return send("POST", path, body, false, fields);
    }

    Reply send(String method, String path, String body, boolean trusted, String... fields) {
        var reply = new Reply();
        EventLoop loop = loops.next();
        Http2Headers head = new DefaultHttp2Headers(false).method(method)
                .scheme("https")
                .authority("h.example")
                .path(path);
        for (int i = 0; i < fields.length; i += 2) {
            head.add(fields[i], fields[i + 1]);
        }
        loop.execute(() -> {
            RequestSink sink = relay(trusted).open(
                    new RelayRequest(RelayRequest.Kind.HTTP, head, body.isEmpty(), loop),
                    reply);
            if (!body.isEmpty()) {
                sink.data(Unpooled.copiedBuffer(body, StandardCharsets.ISO_8859_1));
                sink.end(null);
            }
        });
        return reply;
    }

    public InboxRelay relay(boolean trusted) {
        return new InboxRelay(inbox.intake(),
                new InboxRelay.Target(RUNTIME, routes, this::secretsOf, Hop.EDGE),
                caller, trusted, direct);
    }

    private @Nullable List<byte[]> secretsOf(String runtimeId, DurableRoute route) {
        return secrets.of(runtimeId, route);
    }

    public EventLoop loop() {
        return loops.next();
    }

    @Override
    public void close() {
        inbox.close().block(Duration.ofSeconds(20));
        loops.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
    }
}
