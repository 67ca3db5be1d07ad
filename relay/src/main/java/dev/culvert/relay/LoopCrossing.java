package dev.culvert.relay;

import dev.culvert.http.problem.Problem;
import dev.culvert.http.problem.Problem.Cause;
import dev.culvert.http.problem.Problem.Hop;
import io.netty.buffer.ByteBuf;
import io.netty.channel.EventLoop;
import io.netty.handler.codec.http2.Http2Headers;
import java.util.Objects;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Lets an exchange span two event loops: the asker stays on its own, the answerer runs on another. Calls keep their order.
 * A hop costs a wake-up, so it is taken only where no answerer lives on the asker's loop. What is handed to a loop that has
 * ended is dropped, its buffers released: the part is stopping.
 */
public final class LoopCrossing {
    private static final Logger log = LoggerFactory.getLogger(LoopCrossing.class);

    private LoopCrossing() {}

    /**
     * Opens an exchange of {@code relay} on {@code loop}. Called on {@code request.loop()}, where {@code response} is
     * called back; returns at once.
     */
    public static RequestSink open(Relay relay, EventLoop loop, RelayRequest request, ResponseSink response) {
        Response back = new Response(request.loop(), response);
        Request crossing = new Request(loop, back);
        RelayRequest there = new RelayRequest(request.kind(), request.fields(), request.ended(), loop,
                request.source());
        if (!hand(loop, () -> crossing.open(relay, there))) {
            response.fail(Problem.of(Cause.TUNNEL_LOST, Hop.TUNNEL, "the tunnel's thread has ended"));
        }
        return crossing;
    }

    /** Whether {@code loop} takes the task. */
    private static boolean hand(EventLoop loop, Runnable task) {
        try {
            loop.execute(task);
            return true;
        } catch (RejectedExecutionException e) {
            return false;
        }
    }

    private static final class Request implements RequestSink {
        private final EventLoop loop;
        private final Response back;
        /** Set and used on {@code loop}, by the first of its tasks. */
        private @Nullable RequestSink target;

        Request(EventLoop loop, Response back) {
            this.loop = loop;
            this.back = back;
        }

        /** An answerer that breaks costs its own exchange only: the asker hears of it, what still comes is released. */
        void open(Relay relay, RelayRequest there) {
            target = SwallowingSink.INSTANCE;
            try {
                target = relay.open(there, back);
            } catch (RuntimeException e) {
                log.atError().setCause(e).log("exchange failed, it could not be opened");
                back.fail(Problem.of(Cause.INTERNAL, Hop.EDGE, "the exchange could not be opened"));
            }
        }

        private RequestSink target() {
            return Objects.requireNonNull(target);
        }

        @Override
        public void data(ByteBuf body) {
            if (!hand(loop, () -> target().data(body))) {
                body.release();
            }
        }

        @Override
        public void end(@Nullable Http2Headers trailers) {
            hand(loop, () -> target().end(trailers));
        }

        @Override
        public void cancel(Problem reason) {
            back.cancelled = true;
            hand(loop, () -> target().cancel(reason));
        }

        @Override
        public void consumed(int bytes) {
            hand(loop, () -> target().consumed(bytes));
        }
    }

    private static final class Response implements ResponseSink {
        private final EventLoop loop;
        private final ResponseSink target;
        /** The asker gave up: what is on its way to it is dropped. Belongs to {@code loop}. */
        private boolean cancelled;
        /** What stands before the head that is handed over next. */
        private boolean timed;
        private int routerMicros;
        private int upstreamMicros;

        Response(EventLoop loop, ResponseSink target) {
            this.loop = loop;
            this.target = target;
        }

        private void tell(Runnable call) {
            hand(loop, () -> {
                if (!cancelled) {
                    call.run();
                }
            });
        }

        @Override
        public void informational(Http2Headers head) {
            tell(() -> target.informational(head));
        }

        /** Goes with the head: a hop of its own would cost each exchange a wake-up. */
        @Override
        public void times(int router, int upstream) {
            timed = true;
            routerMicros = router;
            upstreamMicros = upstream;
        }

        @Override
        public void head(Http2Headers head, boolean ended) {
            tell(() -> {
                if (timed) {
                    target.times(routerMicros, upstreamMicros);
                }
                target.head(head, ended);
            });
        }

        @Override
        public void data(ByteBuf body) {
            boolean taken = hand(loop, () -> {
                if (cancelled) {
                    body.release();
                } else {
                    target.data(body);
                }
            });
            if (!taken) {
                body.release();
            }
        }

        @Override
        public void end(@Nullable Http2Headers trailers) {
            tell(() -> target.end(trailers));
        }

        @Override
        public void fail(Problem problem) {
            tell(() -> target.fail(problem));
        }

        @Override
        public void ending(Problem problem) {
            tell(() -> target.ending(problem));
        }

        @Override
        public void consumed(int bytes) {
            tell(() -> target.consumed(bytes));
        }
    }
}
