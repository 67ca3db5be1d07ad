package dev.culvert.http.net;

import io.netty.channel.Channel;
import io.netty.util.concurrent.ScheduledFuture;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The rest of a peer's input, which is read and dropped so that the peer can read its response: closing a
 * socket with unread bytes resets it, and the reset can destroy the response (RFC 9112 §9.6). Bounded by
 * time, by silence, and by the rates of {@link DiscardAccounts}. Holds no bytes. Belongs to the channel's
 * event loop.
 *
 * <pre>
 *  READING ──rate exceeded──► PAUSED        either ──{@link #TIME} over──► cut
 *     ▲ └─ {@link #SILENCE}: cut   │
 *     └────────paid────────────────┘
 * </pre>
 */
public final class DiscardedInput {
    /** The maximum time, however fast the peer sends. */
    public static final Duration TIME = Duration.ofSeconds(30);
    /** The maximum time between two reads. */
    public static final Duration SILENCE = Duration.ofSeconds(5);

    private final Channel channel;
    private final DiscardAccounts.Account account;
    private final Runnable resume;
    private final Runnable cut;
    private final long beganNanos;
    private long readNanos;
    private @Nullable ScheduledFuture<?> check;
    private @Nullable ScheduledFuture<?> pause;

    /**
     * Starts the times.
     *
     * @param resume starts reading again after a pause
     * @param cut ends the connection: a bound is exceeded
     */
    public DiscardedInput(Channel channel, Runnable resume, Runnable cut) {
        this.channel = channel;
        this.account = DiscardAccounts.of(channel);
        this.resume = resume;
        this.cut = cut;
        this.beganNanos = now();
        this.readNanos = beganNanos;
        check();
        dropped(0); // the source may have used up its rate before
    }

    /** Counts bytes that were dropped. Stops reading from the socket while the rate is exceeded. */
    public void dropped(int bytes) {
        long now = now();
        readNanos = now;
        long wait = account.charge(bytes, now);
        if (wait > 0 && check != null) {
            channel.config().setAutoRead(false);
            if (pause == null) {
                pause = channel.eventLoop().schedule(this::paid, wait, TimeUnit.NANOSECONDS);
            }
        }
    }

    private long now() {
        return channel.eventLoop().ticker().nanoTime();
    }

    /** Whether the socket is not read because the rate is exceeded. */
    public boolean isPaused() {
        return pause != null;
    }

    private void paid() {
        pause = null;
        dropped(0); // other connections of the source may have been charged since
        if (pause == null) {
            resume.run();
        }
    }

    private void check() {
        long now = now();
        long silence = isPaused() ? SILENCE.toNanos() : readNanos + SILENCE.toNanos() - now;
        long left = Math.min(beganNanos + TIME.toNanos() - now, silence);
        if (left <= 0) {
            end();
            cut.run();
        } else {
            check = channel.eventLoop().schedule(this::check, left, TimeUnit.NANOSECONDS);
        }
    }

    /** Ends the times and a pause: the input has ended, or the connection. */
    public void end() {
        if (check != null) {
            check.cancel(false);
            check = null;
        }
        if (pause != null) {
            pause.cancel(false);
            pause = null;
        }
    }
}
