package dev.culvert.relay.inbound;

import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.relay.quota.BytePace;
import dev.culvert.relay.quota.PacedBody;
import dev.culvert.relay.testing.EdgeFixture;
import dev.culvert.relay.testing.FakeRelay;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.DefaultEventLoop;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** What a sender chooses to send in single bytes does not cost the edge an object for each of them. */
class SmallPartsTest {
    private static final int PARTS = 20_000;

    private static List<ByteBuf> singleBytes() {
        return IntStream.range(0, PARTS)
                .mapToObj(i -> Unpooled.buffer(1).writeByte('a' + i % 26))
                .toList();
    }

    private static long kept(List<ByteBuf> parts) {
        return parts.stream().filter(part -> part.refCnt() > 0).count();
    }

    @Test
    void mergeTowardsAnHttp1CallerWhoDoesNotRead() {
        try (EmbeddedEdge edge = new EmbeddedEdge()) {
            edge.send("GET / HTTP/1.1\r\nHost: acme.example\r\n\r\n");
            FakeRelay.Exchange exchange = edge.only().head("200", false, "content-length", "" + PARTS);
            edge.written();
            edge.block(true);
            List<ByteBuf> parts = singleBytes();

            exchange.body(parts);

            assertThat(kept(parts)).isLessThan(5);
            assertThat(edge.waitingWrites()).isLessThan(10);
            exchange.end();
            edge.block(false);
            assertThat(edge.written()).hasSize(PARTS).startsWith("abcdef");
        }
    }

    @Test
    void mergeTowardsAnHttp2CallerWithAClosedWindow() throws Exception {
        try (EdgeFixture edge = new EdgeFixture(); var caller = edge.http2()) {
            caller.head(1, true,
                    new DefaultHttp2Headers().method("GET")
                            .scheme("https")
                            .path("/")
                            .authority(EdgeFixture.HOST));
            FakeRelay.Exchange exchange = edge.relay.next().head("200", false).body(1 << 16);
            List<ByteBuf> parts = singleBytes();

            exchange.body(parts);

            assertThat(kept(parts)).isLessThan(5);
        }
    }

    @Test
    void mergeWhileTheyWaitForTheirPace() {
        BytePace pace = new BytePace(System.nanoTime());
        try (var loop = new DefaultEventLoop()) {
            var body = new PacedBody(loop, pace, () -> 1, ByteBuf::release);
            List<ByteBuf> parts = singleBytes();

            parts.forEach(body::data);

            assertThat(kept(parts)).isLessThan(5);
            body.close();
        }
    }
}
