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
 * Lets an exchange span two event loops: the asker stays on its own, the answerer runs on another. Calls keep
 * their order. Each crossing costs a wake-up, so callers use it only if no answerer runs on the asker's loop.
 * Calls to a loop that has ended are dropped and their buffers released, because the part is stopping then.
 */
public final class LoopCrossing {
    private static final Logger log = LoggerFactory.getLogger(LoopCrossing.class);

    private LoopCrossing() {}

    /**
     * Opens an exchange of {@code relay} on {@code loop}. Called on {@code request.loop()}, which also runs
     * the calls to {@code response}. Returns at once.
     */
    public static RequestSink open(Relay relay, EventLoop loop, RelayRequest request, ResponseSink response) {
        Response back = new Response(request.loop(), response);
        Request crossing = new Request(loop, back);
        RelayRequest there = new RelayRequest(request.kind(), request.fields(), request.ended(), loop,
                request.caller());
        if (!hand(loop, () -> crossing.open(relay, there))) {
            response.fail(Problem.of(Cause.TUNNEL_LOST, Hop.TUNNEL, "the tunnel's thread has ended"));
        }
        return crossing;
    }

    /** Submits a task to {@code loop}. Returns false if the loop has ended. */
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

        /**
         * Opens the target. An exception of the answerer fails this exchange only: the asker receives a
         * problem, and later body bytes are released.
         */
        void open(Relay relay, RelayRequest there) {
            target = SwallowingSink.INSTANCE;
            try {
                target = relay.open(there, back);
            } catch (RuntimeException e) {
                log.atError().setCause(e).log("exchange failed, its relay threw while opening it");
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
        /**
         * Set when the asker cancels. Calls to its sink that are queued then are dropped. Belongs to
         * {@code loop}.
         */
        private boolean cancelled;
        /** Whether {@link #times} was called; its values are passed with the next head. */
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

        /** Stored until the head is passed: a crossing of its own would cost each exchange a wake-up. */
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
