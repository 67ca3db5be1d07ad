package dev.culvert.e2e;

import static org.awaitility.Awaitility.await;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import javax.net.ssl.SSLSocket;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Sinks;
import reactor.netty.DisposableServer;
import reactor.netty.http.client.HttpClient;
import reactor.netty.http.server.HttpServer;

/**
 * An upstream, and streams of every kind to it that carry a numbered line each tick until they are ended. A stream that
 * ends before that, or whose lines are not in order, is cut.
 */
final class LongStreams implements AutoCloseable {
    private static final Duration PATIENCE = Duration.ofMinutes(1);
    /** Fills a line of an upload: the edge wants 240 bytes a second. */
    private static final String PADDING = ".".repeat(1000);

    private final Duration tick;
    private final DisposableServer upstream;
    private final Sinks.Empty<Void> end = Sinks.empty();
    private final CountDownLatch ended = new CountDownLatch(1);
    private final Queue<String> cuts = new ConcurrentLinkedQueue<>();
    private final List<Lines> streams = new CopyOnWriteArrayList<>();

    /** What has come back of one stream. */
    private final class Lines {
        private final String kind;
        private final StringBuilder part = new StringBuilder();
        private final AtomicLong sent = new AtomicLong();
        private final AtomicLong arrived = new AtomicLong();
        private volatile boolean over;

        Lines(String kind) {
            this.kind = kind;
            streams.add(this);
        }

        /** The lines to send, until the end. */
        Flux<String> toSend() {
            return numbered(sent).takeUntilOther(end.asMono());
        }

        void received(String text) {
            part.append(text);
            int line = part.indexOf("\n");
            while (line >= 0) {
                String number = part.substring(0, line).strip();
                part.delete(0, line + 1);
                if (!number.isEmpty() && Long.parseLong(number) != arrived.getAndIncrement()) {
                    cut("line " + number + " instead of " + (arrived.get() - 1));
                }
                line = part.indexOf("\n");
            }
        }

        void cut(String reason) {
            if (ended.getCount() > 0 && !over) {
                over = true;
                cuts.add(kind + " after " + arrived + " lines: " + reason);
            }
        }

        void over() {
            cut("ended");
            over = true;
        }
    }

    LongStreams(Duration tick) {
        this.tick = tick;
        upstream = HttpServer.create()
                .host("127.0.0.1")
                .port(0)
                .route(routes -> routes
                        .ws("/ws", (in, out) -> out.sendString(in.receive().asString()))
                        .get("/events", (request, response) -> response.sse()
                                .send(numbered(new AtomicLong()).map(line -> bytes("data: " + line + "\n")),
                                        bytes -> true))
                        .post("/echo", (request, response) -> response
                                .send(request.receive().retain(), bytes -> true))
                        .post("/upload", (request, response) -> response.sendString(request.receive()
                                .asString()
                                .reduce(0L, (sum, text) -> sum + text.chars().filter(c -> c == '\n').count())
                                .map(String::valueOf))))
                .bindNow();
    }

    private Flux<String> numbered(AtomicLong number) {
        return Flux.interval(Duration.ZERO, tick)
                .onBackpressureDrop()
                .map(at -> number.getAndIncrement() + "\n");
    }

    private static ByteBuf bytes(String text) {
        return Unpooled.copiedBuffer(text, StandardCharsets.US_ASCII);
    }

    URI uri() {
        return URI.create("http://127.0.0.1:" + upstream.port());
    }

    void webSocket(HttpClient caller) {
        Lines lines = new Lines("WebSocket");
        caller.websocket()
                .uri("/ws")
                .handle((in, out) -> out.sendString(lines.toSend())
                        .then()
                        .and(in.receive().asString().doOnNext(lines::received)))
                .subscribe(nothing -> {}, error -> lines.cut(String.valueOf(error)), lines::over);
    }

    void events(HttpClient caller) {
        Lines lines = new Lines("event stream");
        caller.get()
                .uri("/events")
                .response((head, body) -> body.asString()
                        .map(text -> text.replace("data:", ""))
                        .takeUntilOther(end.asMono()))
                .subscribe(lines::received, error -> lines.cut(String.valueOf(error)), lines::over);
    }

    /** A request and a response that go on at the same time. */
    void echo(HttpClient caller, String kind) {
        Lines lines = new Lines(kind);
        caller.post()
                .uri("/echo")
                .send((request, out) -> out.send(lines.toSend().map(LongStreams::bytes), bytes -> true))
                .response((head, body) -> body.asString())
                .subscribe(lines::received, error -> lines.cut(String.valueOf(error)), lines::over);
    }

    /** A request whose answer, how many lines it has, follows its end. */
    void upload(HttpClient caller) {
        Lines lines = new Lines("upload");
        caller.post()
                .uri("/upload")
                .send((request, out) -> out.send(lines.toSend()
                        .doOnNext(line -> lines.arrived.set(lines.sent.get()))
                        .map(line -> bytes(PADDING + line)), bytes -> true))
                .responseSingle((head, body) -> body.asString())
                .subscribe(answer -> {
                    if (ended.getCount() > 0 || Long.parseLong(answer) != lines.sent.get()) {
                        cuts.add("upload of " + lines.sent.get() + " lines was answered: " + answer);
                    }
                    lines.over = true;
                }, error -> lines.cut(String.valueOf(error)), lines::over);
    }

    /** Raw bytes to somebody who sends them back. Closes the socket at the end. */
    void raw(SSLSocket caller) {
        Lines lines = new Lines("raw connection");
        Thread.startVirtualThread(() -> {
            try (caller;
                    var in = new BufferedReader(new InputStreamReader(caller.getInputStream(),
                            StandardCharsets.US_ASCII))) {
                do {
                    caller.getOutputStream()
                            .write((lines.sent.getAndIncrement() + "\n").getBytes(StandardCharsets.US_ASCII));
                    lines.received(in.readLine() + "\n");
                } while (!ended.await(tick.toMillis(), TimeUnit.MILLISECONDS));
            } catch (IOException | InterruptedException | NumberFormatException e) {
                lines.cut(String.valueOf(e));
            }
            lines.over();
        });
    }

    /** How many streams were opened. */
    int count() {
        return streams.size();
    }

    /** How many lines have crossed. */
    long lines() {
        return streams.stream().mapToLong(lines -> lines.arrived.get()).sum();
    }

    /** Streams that were cut, with the reasons. */
    List<String> cuts() {
        return List.copyOf(cuts);
    }

    /** Waits until each stream has carried another line, or was cut. */
    void awaitProgress() {
        List<Long> before = streams.stream().map(lines -> lines.arrived.get()).toList();
        List<Lines> all = List.copyOf(streams).subList(0, before.size());
        await().atMost(PATIENCE).until(() -> {
            for (int i = 0; i < all.size(); i++) {
                if (all.get(i).arrived.get() == before.get(i) && !all.get(i).over) {
                    return false;
                }
            }
            return true;
        });
    }

    /** Ends the streams, and waits for the answers of the uploads. */
    void end() {
        ended.countDown();
        end.tryEmitEmpty();
        await()
                .atMost(PATIENCE)
                .until(() -> streams.stream()
                        .filter(lines -> lines.kind.equals("upload"))
                        .allMatch(lines -> lines.over));
    }

    @Override
    public void close() {
        ended.countDown();
        end.tryEmitEmpty();
        upstream.disposeNow(Duration.ofSeconds(1));
    }
}
