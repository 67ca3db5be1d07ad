package dev.culvert.handlers.server;

import dev.culvert.config.HostPort;
import dev.culvert.handlers.spi.EdgeHandler;
import dev.culvert.handlers.spi.EdgeResponse;
import dev.culvert.http.net.EventLoops;
import dev.culvert.relay.testing.EventLoopWatch;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http.DefaultHttpHeaders;
import io.netty.handler.codec.http.HttpResponseStatus;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** A server for one test on a free port. Blocking calls on its event loops are errors. */
final class ServerFixture implements AfterEachCallback {
    private static final Duration TIME = Duration.ofMinutes(1);
    private static final EventLoops LOOPS = EventLoops.create(2);

    static {
        EventLoopWatch.install();
    }

    private @Nullable EdgeServer server;

    /** Shared by all tests, never stopped: daemon threads. */
    static EventLoops loops() {
        return LOOPS;
    }

    static EdgeServer.Setup setup() {
        return EdgeServer.Setup.of(new HostPort("127.0.0.1", 0), LOOPS);
    }

    /** 200 ms for a head and for the silence of a body. */
    static EdgeServer.Setup impatient() {
        return setup().limits(new EdgeLimits(64 << 10, 100, 16 << 10, Duration.ofMillis(200),
                Duration.ofMillis(200), Duration.ofSeconds(5)));
    }

    static Mono<EdgeResponse> text(String text) {
        return Mono.fromSupplier(() -> EdgeResponse.Http.of(HttpResponseStatus.OK, "text/plain",
                text.getBytes(StandardCharsets.UTF_8)));
    }

    static Mono<EdgeResponse> stream(Flux<ByteBuf> body) {
        return Mono.just(EdgeResponse.Http.streaming(HttpResponseStatus.OK, new DefaultHttpHeaders(), body));
    }

    static ByteBuf bytes(String text) {
        return Unpooled.copiedBuffer(text, StandardCharsets.UTF_8);
    }

    EdgeServer start(EdgeHandler handler) {
        return start(handler, setup());
    }

    EdgeServer start(EdgeHandler handler, EdgeServer.Setup setup) {
        server = Objects.requireNonNull(EdgeServer.start(setup, handler).block(TIME));
        return server;
    }

    HostPort address() {
        return Objects.requireNonNull(server).address();
    }

    RawClient connect() throws IOException {
        return new RawClient(address());
    }

    /** Sends bytes on a new connection and reads until the server closes it. */
    String exchange(String bytes) throws IOException {
        try (var client = connect()) {
            return client.send(bytes).readAll();
        }
    }

    @Override
    public void afterEach(ExtensionContext context) {
        if (server != null) {
            server.stop(Duration.ZERO).block(TIME);
        }
    }
}
