package dev.culvert.edge.relay;

import dev.culvert.edge.Problem;
import io.netty.buffer.ByteBuf;
import io.netty.channel.EventLoop;
import io.netty.handler.codec.http2.Http2Headers;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Lets an exchange span two event loops: the asker stays on its own, the answerer runs on another. Calls keep their order.
 * A hop costs a wake-up, so it is taken only where no answerer lives on the asker's loop.
 */
public final class LoopCrossing {
    private LoopCrossing() {}

    /**
     * Opens an exchange of {@code relay} on {@code loop}. Called on {@code request.loop()}, where {@code response} is
     * called back; returns at once.
     */
    public static RequestSink open(Relay relay, EventLoop loop, RelayRequest request, ResponseSink response) {
        Request crossing = new Request(loop);
        RelayRequest there = new RelayRequest(request.kind(), request.fields(), request.ended(), loop);
        ResponseSink back = new Response(request.loop(), response);
        loop.execute(() -> crossing.target = relay.open(there, back));
        return crossing;
    }

    private static final class Request implements RequestSink {
        private final EventLoop loop;
        /** Set and used on {@code loop}, by the first of its tasks. */
        private @Nullable RequestSink target;

        Request(EventLoop loop) {
            this.loop = loop;
        }

        private RequestSink target() {
            return Objects.requireNonNull(target);
        }

        @Override
        public void data(ByteBuf body) {
            loop.execute(() -> target().data(body));
        }

        @Override
        public void end(@Nullable Http2Headers trailers) {
            loop.execute(() -> target().end(trailers));
        }

        @Override
        public void cancel(Problem reason) {
            loop.execute(() -> target().cancel(reason));
        }

        @Override
        public void consumed(int bytes) {
            loop.execute(() -> target().consumed(bytes));
        }
    }

    private static final class Response implements ResponseSink {
        private final EventLoop loop;
        private final ResponseSink target;

        Response(EventLoop loop, ResponseSink target) {
            this.loop = loop;
            this.target = target;
        }

        @Override
        public void informational(Http2Headers head) {
            loop.execute(() -> target.informational(head));
        }

        @Override
        public void head(Http2Headers head, boolean ended) {
            loop.execute(() -> target.head(head, ended));
        }

        @Override
        public void data(ByteBuf body) {
            loop.execute(() -> target.data(body));
        }

        @Override
        public void end(@Nullable Http2Headers trailers) {
            loop.execute(() -> target.end(trailers));
        }

        @Override
        public void fail(Problem problem) {
            loop.execute(() -> target.fail(problem));
        }

        @Override
        public void consumed(int bytes) {
            loop.execute(() -> target.consumed(bytes));
        }
    }
}
