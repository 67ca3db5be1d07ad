package dev.culvert.http.net;

import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.EventLoop;
import io.netty.util.concurrent.Future;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Connects to one of several addresses of a name (RFC 8305 §5): the next one is tried when the one before
 * failed or has not connected for {@link #STAGGER}, while the earlier attempts go on. The first connection
 * wins, and the others are closed. Confined to its event loop.
 *
 * @param <A> an address
 */
public final class ConnectRace<A> {
    /** The delay before the next address is tried beside a silent one, as RFC 8305 §8 recommends. */
    public static final Duration STAGGER = Duration.ofMillis(250);

    /** Gives the addresses, and learns what became of them. All calls are made on the event loop. */
    public interface Course<A> {
        /** The next address; null if there is no other, or none is wanted any more. */
        @Nullable
        A next();

        /** Begins to connect. */
        ChannelFuture connect(A address);

        /** An address could not be connected to. */
        void failed(A address, Throwable cause);

        /** Another address won over this one, whose attempt is given up. */
        void lost(A address);

        /** The race is over. The receiver owns the channel. */
        void won(A address, Channel channel);

        /** The race is over without a connection: each address failed, this one last. */
        void over(A address, Throwable cause);
    }

    private record Attempt<A>(A address, ChannelFuture connecting) {}

    private final EventLoop loop;
    private final Course<A> course;
    /** At most as many as the course gives addresses. */
    private final List<Attempt<A>> running = new ArrayList<>(2);
    private @Nullable Future<?> timer;
    private boolean ended;

    public ConnectRace(EventLoop loop, Course<A> course) {
        this.loop = loop;
        this.course = course;
    }

    /** Starts with an address. Results may be reported before this returns. */
    public void start(A first) {
        var attempt = new Attempt<>(first, course.connect(first));
        running.add(attempt);
        timer = loop.schedule(this::startNext, STAGGER.toMillis(), TimeUnit.MILLISECONDS);
        attempt.connecting.addListener(done -> {
            if (done.isSuccess()) {
                won(attempt);
            } else {
                failed(attempt, done.cause());
            }
        });
    }

    /** Gives all attempts up. Nothing is reported any more. */
    public void cancel() {
        ended = true;
        stopTimer();
        running.forEach(attempt -> attempt.connecting.channel().close());
        running.clear();
    }

    private boolean startNext() {
        stopTimer();
        A next = ended ? null : course.next();
        if (next != null) {
            start(next);
        }
        return next != null;
    }

    private void won(Attempt<A> winner) {
        if (ended) {
            winner.connecting.channel().close();
            return;
        }
        running.remove(winner);
        List<Attempt<A>> losers = List.copyOf(running);
        cancel();
        losers.forEach(loser -> course.lost(loser.address));
        course.won(winner.address, winner.connecting.channel());
    }

    private void failed(Attempt<A> attempt, Throwable cause) {
        if (ended) {
            return;
        }
        running.remove(attempt);
        course.failed(attempt.address, cause);
        if (!startNext() && running.isEmpty() && !ended) {
            ended = true;
            course.over(attempt.address, cause);
        }
    }

    private void stopTimer() {
        if (timer != null) {
            timer.cancel(false);
            timer = null;
        }
    }
}
