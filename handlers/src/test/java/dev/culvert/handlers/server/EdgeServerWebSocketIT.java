package dev.culvert.handlers.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.config.HostPort;
import dev.culvert.handlers.spi.EdgeResponse;
import dev.culvert.http.net.EventLoops;
import io.netty.handler.codec.http.DefaultHttpHeaders;
import io.netty.handler.codec.http.websocketx.TextWebSocketFrame;
import io.netty.handler.codec.http.websocketx.WebSocketFrame;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.WebSocket;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

class EdgeServerWebSocketIT {
    private static final Duration TIME = Duration.ofMinutes(1);

    private final EventLoops loops = EventLoops.nio(1);
    private final BlockingQueue<String> events = new LinkedBlockingQueue<>();
    private @Nullable EdgeServer server;

    @AfterEach
    void stop() {
        if (server != null) {
            server.stop(Duration.ZERO).block(TIME);
        }
        loops.disposeLater(Duration.ZERO, TIME).block();
    }

    @Test
    void echoesTextAndBinary() throws InterruptedException {
        WebSocket socket = connect(frames -> frames, null);

        socket.sendText("hello", true).join();
        socket.sendBinary(ByteBuffer.wrap(new byte[]{1, 2, 3}), true).join();

        assertThat(next()).isEqualTo("text hello");
        assertThat(next()).isEqualTo("binary 3");
        socket.sendClose(WebSocket.NORMAL_CLOSURE, "").join();
        assertThat(next()).isEqualTo("close 1000");
    }

    @Test
    void agreesOnTheHandlersSubprotocol() {
        assertThat(connect(frames -> frames, "v1").getSubprotocol()).isEqualTo("v1");
    }

    @Test
    void theEndOfTheExchangeClosesTheWebSocket() throws InterruptedException {
        connect(frames -> Flux.just(new TextWebSocketFrame("bye")), null);

        assertThat(next()).isEqualTo("text bye");
        assertThat(next()).startsWith("close 100");
    }

    @Test
    void aFailedExchangeClosesWith1011() throws InterruptedException {
        connect(frames -> Flux.error(new IllegalStateException("bug")), null);

        assertThat(next()).isEqualTo("close 1011");
    }

    @Test
    void theEndOfTheGraceClosesWith1001() throws InterruptedException {
        connect(frames -> Flux.<WebSocketFrame>never().startWith(new TextWebSocketFrame("up")), null);
        assertThat(next()).isEqualTo("text up");

        Objects.requireNonNull(server).stop(Duration.ofMillis(50)).block(TIME);

        assertThat(next()).isEqualTo("close 1001");
    }

    @Test
    void aPlainRequestIsToldToUpgrade() throws IOException {
        HostPort address = start(frames -> frames, null);

        try (var client = new RawClient(address)) {
            String answer = client.send("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").readAll();
            assertThat(answer).startsWith("HTTP/1.1 426")
                    .contains("upgrade: websocket")
                    .contains("urn:culvert:problem:upgrade-required");
        }
    }

    private WebSocket connect(Function<Flux<WebSocketFrame>, Flux<WebSocketFrame>> exchange,
            @Nullable String subprotocol) {
        HostPort address = start(exchange, subprotocol);
        var builder = HttpClient.newHttpClient().newWebSocketBuilder();
        if (subprotocol != null) {
            builder.subprotocols("other", subprotocol);
        }
        return builder.buildAsync(URI.create("ws://" + address + "/"), new Recorder()).join();
    }

    private HostPort start(Function<Flux<WebSocketFrame>, Flux<WebSocketFrame>> exchange,
            @Nullable String subprotocol) {
        var headers = new DefaultHttpHeaders();
        if (subprotocol != null) {
            headers.set("sec-websocket-protocol", subprotocol);
        }
        server = Objects.requireNonNull(
                EdgeServer.start(EdgeServer.Setup.of(new HostPort("127.0.0.1", 0), loops),
                        request -> Mono.just(new EdgeResponse.WebSocket(headers, exchange))).block(TIME));
        return server.address();
    }

    private @Nullable String next() throws InterruptedException {
        return events.poll(TIME.toSeconds(), TimeUnit.SECONDS);
    }

    private final class Recorder implements WebSocket.Listener {
        @Override
        public @Nullable CompletionStage<?> onText(WebSocket socket, CharSequence data, boolean last) {
            events.add("text " + data);
            socket.request(1);
            return null;
        }

        @Override
        public @Nullable CompletionStage<?> onBinary(WebSocket socket, ByteBuffer data, boolean last) {
            events.add("binary " + data.remaining());
            socket.request(1);
            return null;
        }

        @Override
        public @Nullable CompletionStage<?> onClose(WebSocket socket, int status, String reason) {
            events.add("close " + status);
            return null;
        }

        @Override
        public void onError(WebSocket socket, Throwable error) {
            events.add("error " + error);
        }
    }
}
