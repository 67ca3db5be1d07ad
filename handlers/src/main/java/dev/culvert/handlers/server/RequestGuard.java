package dev.culvert.handlers.server;

import dev.culvert.http.fields.RequestId;
import dev.culvert.http.net.JudgedRequestDecoder;
import dev.culvert.http.problem.Problem;
import dev.culvert.http.problem.Problem.Cause;
import dev.culvert.http.problem.Problem.Hop;
import dev.culvert.http.problem.ProblemDocument;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.handler.codec.DecoderResultProvider;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpStatusClass;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.concurrent.Future;
import java.nio.channels.ClosedChannelException;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Follows the HTTP/1.1 codec in the pipeline of a connection. Answers requests that the codec could not parse
 * with a problem, and aborts heads that arrive too slowly. Stops reading while a second request waits for the
 * first response, because Reactor Netty would queue pipelined requests without a bound.
 */
final class RequestGuard extends ChannelDuplexHandler {
    private final EdgeLimits limits;
    private final Consumer<Problem> refusals;

    private int unanswered;
    private boolean betweenRequests = true;
    private boolean responding;
    private @Nullable Problem refusal;
    private @Nullable Future<?> headTimer;
    private @Nullable Future<?> silenceTimer;
    private boolean waiting;
    private long waitingSinceNanos;

    /**
     * Creates the guard of one connection.
     *
     * @param refusals receives every problem that the guard answers itself
     */
    RequestGuard(EdgeLimits limits, Consumer<Problem> refusals) {
        this.limits = limits;
        this.refusals = refusals;
    }

    /** Creates the handler that precedes the codec and notifies the guard of received bytes. */
    ChannelInboundHandlerAdapter bytesListener() {
        return new ChannelInboundHandlerAdapter() {
            @Override
            public void channelRead(ChannelHandlerContext ctx, Object msg) {
                waiting = false;
                if (betweenRequests && headTimer == null && refusal == null) {
                    startHeadTimer(ctx);
                }
                ctx.fireChannelRead(msg);
            }
        };
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object msg) {
        if (refusal != null) {
            ReferenceCountUtil.release(msg);
            return;
        }
        Problem problem = msg instanceof DecoderResultProvider decoded && decoded.decoderResult().isFailure()
                ? JudgedRequestDecoder.problem(decoded.decoderResult().cause(), Hop.EDGE)
                : null;
        if (msg instanceof HttpRequest request) {
            unanswered++;
            betweenRequests = false;
            stopHeadTimer();
            problem = problem == null ? beyondLimits(request) : problem;
        }
        if (msg instanceof LastHttpContent end) {
            betweenRequests = true;
            if (problem == null && end.trailingHeaders().size() > limits.headFields()) {
                problem = Problem.of(Cause.HEAD_TOO_LARGE, Hop.EDGE,
                        "more than " + limits.headFields() + " trailers");
            }
        }
        if (problem != null) {
            ReferenceCountUtil.release(msg);
            refuse(ctx, problem);
            return;
        }
        ctx.fireChannelRead(msg);
    }

    @Override
    public void read(ChannelHandlerContext ctx) {
        if (unanswered > 1) {
            ctx.channel().config().setAutoRead(false);
            return;
        }
        if (!betweenRequests && !waiting && refusal == null) {
            waiting = true;
            waitingSinceNanos = ctx.executor().ticker().nanoTime();
            if (silenceTimer == null) {
                startSilenceTimer(ctx, limits.bodySilence().toNanos());
            }
        }
        ctx.read();
    }

    @Override
    public void write(ChannelHandlerContext ctx, Object msg, ChannelPromise promise) {
        if (refusal != null && unanswered == 1) {
            ReferenceCountUtil.release(msg);
            promise.tryFailure(new ClosedChannelException());
            return;
        }
        boolean informational = msg instanceof HttpResponse response
                && response.status().codeClass() == HttpStatusClass.INFORMATIONAL;
        if (msg instanceof HttpResponse && !informational) {
            responding = true;
        }
        boolean last = msg instanceof LastHttpContent && !informational;
        ChannelPromise written = last ? promise.unvoid() : promise;
        var _ = ctx.write(msg, written);
        if (last) {
            answered(ctx, written);
        }
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) {
        stopHeadTimer();
        if (silenceTimer != null) {
            silenceTimer.cancel(false);
        }
        ctx.fireChannelInactive();
    }

    private void answered(ChannelHandlerContext ctx, ChannelFuture written) {
        responding = false;
        unanswered--;
        if (unanswered != 1) {
            return;
        }
        if (refusal == null) {
            written.addListener(done -> ctx.read());
        } else {
            conclude(ctx, refusal);
        }
    }

    private @Nullable Problem beyondLimits(HttpRequest request) {
        if (request.headers().size() > limits.headFields()) {
            return Problem.of(Cause.HEAD_TOO_LARGE, Hop.EDGE,
                    "more than " + limits.headFields() + " header fields");
        }
        return request.uri().length() <= limits.uriBytes()
                ? null
                : Problem.of(Cause.URI_TOO_LONG, Hop.EDGE,
                        "the URI is longer than " + limits.uriBytes() + " bytes");
    }

    private void startHeadTimer(ChannelHandlerContext ctx) {
        headTimer = ctx.executor().schedule(() -> {
            headTimer = null;
            ChannelHandlerContext self = ctx.pipeline().context(this);
            if (betweenRequests && refusal == null && self != null) {
                unanswered++;
                refuse(self, Problem.of(Cause.REQUEST_TIMEOUT, Hop.EDGE,
                        "no complete request head within " + limits.headTimeout().toMillis() + " ms"));
            }
        }, limits.headTimeout().toMillis(), TimeUnit.MILLISECONDS);
    }

    private void stopHeadTimer() {
        if (headTimer != null) {
            headTimer.cancel(false);
            headTimer = null;
        }
    }

    /**
     * Starts the timer. Only the time in which the handler demands more of the body counts: the caller is not
     * responsible for a slow handler.
     */
    private void startSilenceTimer(ChannelHandlerContext ctx, long nanos) {
        silenceTimer = ctx.executor().schedule(() -> {
            silenceTimer = null;
            if (betweenRequests || !waiting || refusal != null) {
                return;
            }
            long silentNanos = ctx.executor().ticker().nanoTime() - waitingSinceNanos;
            if (silentNanos < limits.bodySilence().toNanos()) {
                startSilenceTimer(ctx, limits.bodySilence().toNanos() - silentNanos);
            } else {
                refuse(ctx,
                        Problem.of(Cause.REQUEST_TIMEOUT, Hop.EDGE, "the request's body stopped arriving"));
            }
        }, nanos, TimeUnit.NANOSECONDS);
    }

    /** Answers the newest request with {@code problem} after the earlier responses. Stops reading. */
    private void refuse(ChannelHandlerContext ctx, Problem problem) {
        refusal = problem;
        stopHeadTimer();
        if (unanswered == 1) {
            conclude(ctx, problem);
        } else if (unanswered == 0) {
            ctx.close(); // the rest of a body whose request is answered
        }
    }

    private void conclude(ChannelHandlerContext ctx, Problem problem) {
        refusals.accept(problem);
        if (responding) {
            Connections.reset(ctx.channel());
            return;
        }
        ProblemDocument document = ProblemDocument.of(problem, RequestId.create().toString());
        FullHttpResponse response = new DefaultFullHttpResponse(HttpVersion.HTTP_1_1,
                HttpResponseStatus.valueOf(document.status()), Unpooled.wrappedBuffer(document.body()));
        document.fields().forEach(field -> response.headers().set(field.name(), field.value()));
        response.headers().set("connection", "close");
        ctx.writeAndFlush(response).addListener(ChannelFutureListener.CLOSE);
    }
}
