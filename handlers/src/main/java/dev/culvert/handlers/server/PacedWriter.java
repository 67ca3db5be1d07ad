package dev.culvert.handlers.server;

import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.util.ReferenceCountUtil;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.ToIntFunction;
import org.reactivestreams.Publisher;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Mono;

/**
 * Writes a stream of messages to a channel and flushes each one. Demands the next message only while fewer
 * than {@link #WINDOW_BYTES} wait for the socket. So a stalled reader costs that many bytes, not the 128
 * messages that Reactor Netty would prefetch. Takes ownership of the messages. Completes when all are flushed
 * or the channel has closed; fails as its source fails. Cancelling cancels the source.
 */
final class PacedWriter<T> extends Mono<Void> {
    /** A few socket writes, enough to keep a fast reader busy. */
    static final int WINDOW_BYTES = 64 << 10;

    private final Channel channel;
    private final Publisher<? extends T> source;
    private final ToIntFunction<T> size;

    PacedWriter(Channel channel, Publisher<? extends T> source, ToIntFunction<T> size) {
        this.channel = channel;
        this.source = source;
        this.size = size;
    }

    @Override
    public void subscribe(CoreSubscriber<? super Void> actual) {
        source.subscribe(new Pace<T>(channel, size, actual));
    }

    /**
     * Its state is confined to the channel's event loop, except {@code ended}, which cancel sets on any
     * thread.
     */
    private static final class Pace<T> implements CoreSubscriber<T>, Subscription, ChannelFutureListener {
        private final Channel channel;
        private final ToIntFunction<T> size;
        private final CoreSubscriber<? super Void> actual;

        @SuppressWarnings("NullAway.Init") // set in onSubscribe, the first call by the Reactive Streams rules
        private Subscription upstream;
        private int pendingBytes;
        private int pendingWrites;
        private boolean paused;
        private boolean complete;
        private volatile boolean ended;

        Pace(Channel channel, ToIntFunction<T> size, CoreSubscriber<? super Void> actual) {
            this.channel = channel;
            this.size = size;
            this.actual = actual;
        }

        @Override
        public reactor.util.context.Context currentContext() {
            return actual.currentContext();
        }

        @Override
        public void onSubscribe(Subscription s) {
            upstream = s;
            actual.onSubscribe(this);
            channel.closeFuture().addListener(this);
            s.request(1);
        }

        @Override
        public void onNext(T message) {
            try {
                onLoop(() -> write(message));
            } catch (RejectedExecutionException e) { // the event loop has ended
                ReferenceCountUtil.release(message);
                upstream.cancel();
            }
        }

        @Override
        public void onError(Throwable failure) {
            onLoop(() -> {
                if (end()) {
                    actual.onError(failure);
                }
            });
        }

        @Override
        public void onComplete() {
            onLoop(() -> {
                complete = true;
                completeIfFlushed();
            });
        }

        @Override
        public void request(long n) {
            // A Mono<Void> emits no element, so demand has no effect.
        }

        @Override
        public void cancel() {
            ended = true;
            channel.closeFuture().removeListener(this);
            upstream.cancel();
        }

        /** The channel has closed. */
        @Override
        public void operationComplete(ChannelFuture closed) {
            if (end()) {
                upstream.cancel();
                actual.onComplete();
            }
        }

        private void write(T message) {
            if (ended) {
                ReferenceCountUtil.release(message);
                return;
            }
            int bytes = size.applyAsInt(message);
            pendingBytes += bytes;
            pendingWrites++;
            channel.writeAndFlush(message).addListener(done -> written(bytes, done.isSuccess()));
            if (pendingBytes < WINDOW_BYTES) {
                upstream.request(1);
            } else {
                paused = true;
            }
        }

        private void written(int bytes, boolean success) {
            pendingBytes -= bytes;
            pendingWrites--;
            if (!success && !ended) {
                var _ = channel.close();
            } else if (paused && pendingBytes < WINDOW_BYTES) {
                paused = false;
                upstream.request(1);
            }
            completeIfFlushed();
        }

        private void completeIfFlushed() {
            if (complete && pendingWrites == 0 && end()) {
                actual.onComplete();
            }
        }

        private boolean end() {
            if (ended) {
                return false;
            }
            ended = true;
            channel.closeFuture().removeListener(this);
            return true;
        }

        private void onLoop(Runnable task) {
            if (channel.eventLoop().inEventLoop()) {
                task.run();
            } else {
                channel.eventLoop().execute(task);
            }
        }
    }
}
