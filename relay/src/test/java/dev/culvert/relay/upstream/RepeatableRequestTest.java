package dev.culvert.relay.upstream;

import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.http.problem.Problem;
import dev.culvert.relay.RelayRequest;
import dev.culvert.relay.RequestSink;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.Http2Headers;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class RepeatableRequestTest {
    private static final int LARGE = 2048;

    private final EmbeddedChannel channel = new EmbeddedChannel();
    private final RepeatableRequest repeatable = new RepeatableRequest(
            new RelayRequest(RelayRequest.Kind.HTTP, new DefaultHttp2Headers().method("POST"), false,
                    channel.eventLoop()),
            true);
    private final List<String> sent = new ArrayList<>();

    private static ByteBuf part(char of) {
        return Unpooled.copiedBuffer(String.valueOf(of).repeat(LARGE), StandardCharsets.US_ASCII);
    }

    /** What is given back may live on as somebody else's, and so may its memory. */
    @Test
    void nothingIsSentThatWasGivenBackMeanwhile() {
        List<ByteBuf> theirs = List.of(part('a'), part('b'));
        theirs.forEach(repeatable::keep);

        repeatable.sendTo(new RequestSink() {
            @Override
            public void data(ByteBuf body) {
                sent.add(body.toString(0, 1, StandardCharsets.US_ASCII));
                body.release();
                repeatable.release();
            }

            @Override
            public void end(@Nullable Http2Headers trailers) {
                sent.add("end");
            }

            @Override
            public void cancel(Problem reason) {}

            @Override
            public void consumed(int bytes) {}
        });

        assertThat(sent).containsExactly("a");
        assertThat(theirs).allSatisfy(part -> assertThat(part.refCnt()).isOne());
        theirs.forEach(ByteBuf::release);
        channel.finishAndReleaseAll();
    }
}
