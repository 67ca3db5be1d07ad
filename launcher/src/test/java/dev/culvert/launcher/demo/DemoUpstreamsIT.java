package dev.culvert.launcher.demo;

import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.http.net.EventLoops;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http.websocketx.BinaryWebSocketFrame;
import io.netty.handler.codec.http.websocketx.TextWebSocketFrame;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.netty.DisposableServer;
import reactor.netty.http.client.HttpClient;

class DemoUpstreamsIT {
    private static final Duration WAIT = Duration.ofMinutes(1);

    private final EventLoops loops = EventLoops.create(1);
    private final DisposableServer workflows = start(DemoWorkflows.start(loops));
    private final DemoEventSource eventSource = new DemoEventSource();
    private final DisposableServer webhooks = start(eventSource.start(loops));

    private static DisposableServer start(Mono<DisposableServer> server) {
        return server.blockOptional(WAIT).orElseThrow();
    }

    @AfterEach
    void stop() {
        workflows.disposeNow();
        webhooks.disposeNow();
        loops.dispose();
    }

    @Test
    void anUploadIsAnsweredWithItsHash() {
        long bytes = 3_000_001;

        String answer = client(workflows).put()
                .uri("/upload")
                .send(DemoBytes.stream(bytes))
                .responseContent()
                .aggregate()
                .asString()
                .block(WAIT);

        assertThat(answer).isEqualTo("{\"bytes\":3000001,\"sha256\":\"" + DemoBytes.sha256(bytes) + "\"}");
    }

    @Test
    void aDownloadHasTheBytesAskedFor() {
        var digest = DemoBytes.digest();

        Long total = client(workflows).get()
                .uri("/download/1000003")
                .responseContent()
                .reduce(0L, (sum, chunk) -> {
                    DemoBytes.update(digest, chunk);
                    return sum + chunk.readableBytes();
                })
                .block(WAIT);

        assertThat(total).isEqualTo(1_000_003);
        assertThat(DemoBytes.hex(digest)).isEqualTo(DemoBytes.sha256(1_000_003))
                .isNotEqualTo(DemoBytes.sha256(1_000_002));
    }

    @Test
    void aDownloadOfNonsenseIsRefused() {
        assertThat(client(workflows).get()
                .uri("/download/99999999999999")
                .response()
                .map(r -> r.status().code())
                .block(WAIT)).isEqualTo(400);
    }

    @Test
    void textAndBinaryFramesAreEchoed() {
        List<String> echoed = client(workflows).websocket()
                .uri("/ws/echo")
                .handle((in, out) -> out
                        .sendObject(Flux.just(new TextWebSocketFrame("a"),
                                new BinaryWebSocketFrame(Unpooled.wrappedBuffer(new byte[]{1, 2}))))
                        .then()
                        .thenMany(in.receiveFrames()
                                .take(2)
                                .map(frame -> frame.getClass().getSimpleName()
                                        + ByteBufUtil.hexDump(frame.content()))))
                .collectList()
                .block(WAIT);

        assertThat(echoed).containsExactly("TextWebSocketFrame61", "BinaryWebSocketFrame0102");
    }

    @Test
    void eventsArriveOneByOne() {
        List<String> parts = client(workflows).get()
                .uri("/api/v1/workflow-events/demo")
                .responseContent()
                .asString()
                .collectList()
                .blockOptional(WAIT)
                .orElseThrow();

        assertThat(parts).hasSizeGreaterThan(1);
        assertThat(String.join("", parts)).contains("id: 0\n").contains("id: 4\n").doesNotContain("id: 5");
    }

    @Test
    void webhooksAreRecordedListedAndForgottenOnlyBeyondTheBound() {
        Flux.fromStream(IntStream.range(0, DemoEventSource.KEPT + 1).boxed())
                .concatMap(i -> client(webhooks).headers(h -> h.set("X-Number", i))
                        .post()
                        .uri("/webhooks/demo/push/a?b=" + i)
                        .send(Flux.just(Unpooled.wrappedBuffer(new byte[]{0, (byte) 200})))
                        .response())
                .blockLast(WAIT);

        assertThat(eventSource.received()).hasSize(DemoEventSource.KEPT);
        DemoEventSource.Webhook last = eventSource.received().getLast();
        assertThat(last.uri()).isEqualTo("/webhooks/demo/push/a?b=" + DemoEventSource.KEPT);
        assertThat(last.body()).isEqualTo("AMg=");
        assertThat(last.headers()).containsEntry("X-Number", Integer.toString(DemoEventSource.KEPT));
        assertThat(client(webhooks).get()
                .uri("/webhooks/demo/push/received")
                .responseContent()
                .aggregate()
                .asString()
                .block(WAIT)).contains("?b=" + DemoEventSource.KEPT).doesNotContain("?b=0\"");
    }

    private static HttpClient client(DisposableServer server) {
        return HttpClient.newConnection().baseUrl("http://" + DemoWorkflows.address(server));
    }
}
