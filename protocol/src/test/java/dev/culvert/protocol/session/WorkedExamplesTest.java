package dev.culvert.protocol.session;

import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.protocol.frame.ErrorCode;
import dev.culvert.protocol.frame.FrameCodec;
import dev.culvert.protocol.frame.HeadOptions;
import dev.culvert.protocol.frame.WorkedExamples;
import dev.culvert.protocol.session.SessionEvent.Data;
import dev.culvert.protocol.session.SessionEvent.Opened;
import dev.culvert.protocol.session.SessionEvent.ResponseHead;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** docs/protocol.md §14: what two real sessions write is literally what the page shows, and they accept it. */
final class WorkedExamplesTest {
    private final List<String> batches = new ArrayList<>();

    @Test
    void getWithASmallAnswerIsThatOfThePage() {
        try (SessionPair pair = recording()) {
            List<String> page = WorkedExamples.batches();

            int id = pair.request();
            pair.client.session.respond(id,
                    new DefaultHttp2Headers().status("200").add("content-length", "2"),
                    HeadOptions.NONE, false, false);
            pair.client.session.data(id,
                    pair.allocator.heapBuffer().writeBytes("ok".getBytes(StandardCharsets.UTF_8)));
            pair.client.end(id);
            pair.client.send(pair.nowNanos);
            assertThatServerReads(pair, "ok");

            assertThat(batches).containsExactly(page.get(0), page.get(1));
        }
    }

    @Test
    void uploadWhoseUpstreamGoesAwayIsThatOfThePage() {
        try (SessionPair pair = SessionPair.live()) {
            pair.server.session.session.lastStreamId = 4;
            int id = pair.server.open("/upload", false);
            pair.drive();
            pair.client.stall(id);
            pair.server.write(id, 256 << 10);
            pair.drive();
            pair.client.tap = batch -> batches.add(ByteBufUtil.hexDump(batch));

            pair.client.read(pair.client.log(id), 128 << 10);
            pair.drive();
            pair.client.session.reset(id, ErrorCode.FAILED, 8, 3, "");
            pair.drive();

            assertThat(String.join("", batches)).isEqualTo(WorkedExamples.batches().get(2));
            assertThat(batches).hasSize(2);
        }
    }

    @Test
    void pagesBytesAreAccepted() {
        try (SessionPair pair = SessionPair.live()) {
            List<String> page = WorkedExamples.batches();
            pair.client.accept(WorkedExamples.buffer(page.get(0)), 0);
            assertThat(pair.client.last(Opened.class).head().path()).hasToString("/");
            assertThat(pair.client.last(Opened.class).ended()).isTrue();
        }
    }

    /** Bodies here are the page's, not the fixture's pattern. */
    private static void assertThatServerReads(SessionPair pair, String body) {
        ByteBuf batch = Objects.requireNonNull(pair.client.out.receive(pair.nowNanos));
        while (batch.isReadable()) {
            pair.server.session.handle(FrameCodec.decode(batch), pair.nowNanos);
        }
        batch.release();
        assertThat(pair.server.session.pollEvent()).isInstanceOf(ResponseHead.class);
        assertThat(pair.server.session.pollEvent()).isInstanceOfSatisfying(Data.class, data -> {
            assertThat(data.body().toString(StandardCharsets.UTF_8)).isEqualTo(body);
            assertThat(data.last()).isTrue();
            data.body().release();
        });
    }

    private SessionPair recording() {
        SessionPair pair = SessionPair.live();
        pair.server.tap = batch -> batches.add(ByteBufUtil.hexDump(batch));
        pair.client.tap = batch -> batches.add(ByteBufUtil.hexDump(batch));
        return pair;
    }
}
