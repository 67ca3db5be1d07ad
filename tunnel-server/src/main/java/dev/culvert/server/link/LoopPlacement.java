package dev.culvert.server.link;

import dev.culvert.relay.listen.HandshakeFairness;
import io.netty.channel.Channel;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.util.AttributeKey;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Spreads the connections of each runtime over the event loops. The listener accepts all connections on the
 * loops in turn, so two connections of one client may arrive on the same loop; the requests of all other
 * loops would then cross to it, which costs up to a sixth of the CPU time of a small request. Thread-safe.
 */
public final class LoopPlacement {
    private static final AttributeKey<Reservation> RESERVATION = AttributeKey
            .valueOf(LoopPlacement.class, "reservation");

    private final List<EventLoop> loops = new ArrayList<>();
    private final Serving serving;
    /**
     * The loops of connections whose session is being opened, by runtime. {@link SessionAdmission} bounds
     * them. Guarded by this.
     */
    private final Map<String, List<EventLoop>> opening = new HashMap<>();

    /** The event loops of live sessions. */
    @FunctionalInterface
    public interface Serving {
        /**
         * Returns the loops of the sessions of a runtime that accept streams, one entry for each session.
         *
         * @param replaced the client's number of the connection that is being opened; a session of the same
         *     number is about to be replaced and is left out. -1: unknown
         */
        List<EventLoop> loops(String runtimeId, int replaced);
    }

    /** The place of a connection whose session is being opened. */
    private record Reservation(LoopPlacement owner, String runtimeId, EventLoop loop) {
        void release() {
            owner.release(this);
        }
    }

    public LoopPlacement(EventLoopGroup group, Serving serving) {
        group.forEach(loop -> loops.add((EventLoop) loop));
        this.serving = serving;
    }

    /**
     * Returns the loop with the fewest connections of the runtime: the present loop of {@code channel} if it
     * is one of those. The connection counts there until {@link #opened} or its end.
     *
     * @param number the client's number of the connection; -1: unknown
     */
    EventLoop place(String runtimeId, int number, Channel channel) {
        EventLoop chosen = reserve(runtimeId, number, channel.eventLoop());
        channel.attr(RESERVATION).set(new Reservation(this, runtimeId, chosen));
        channel.closeFuture().addListener(closed -> opened(channel));
        return chosen;
    }

    private synchronized EventLoop reserve(String runtimeId, int number, EventLoop present) {
        List<EventLoop> taken = new ArrayList<>(serving.loops(runtimeId, number));
        taken.addAll(opening.getOrDefault(runtimeId, List.of()));
        EventLoop chosen = present;
        int fewest = Collections.frequency(taken, present);
        for (EventLoop loop : loops) {
            int connections = Collections.frequency(taken, loop);
            if (connections < fewest) {
                chosen = loop;
                fewest = connections;
            }
        }
        opening.computeIfAbsent(runtimeId, id -> new ArrayList<>()).add(chosen);
        return chosen;
    }

    private synchronized void release(Reservation reservation) {
        List<EventLoop> places = opening.get(reservation.runtimeId());
        if (places != null) {
            places.remove(reservation.loop());
            if (places.isEmpty()) {
                opening.remove(reservation.runtimeId());
            }
        }
    }

    /** The session of {@code channel} is live or will not be; only live sessions count from now on. */
    static void opened(Channel channel) {
        Reservation reservation = channel.attr(RESERVATION).getAndSet(null);
        if (reservation != null) {
            reservation.release();
        }
    }

    /** The number of runtimes with a connection whose session is being opened. */
    synchronized int openingRuntimes() {
        return opening.size();
    }

    /**
     * Moves a connection to another event loop, between two messages of its peer. Call on its present loop.
     * Closes the connection if that fails.
     *
     * @param then runs on {@code to} when the connection reads there; not called if the connection closes
     *     first
     */
    static void move(Channel channel, EventLoop to, Runnable then) {
        channel.config().setAutoRead(false);
        // a later task: handlers further out have yet to finish the pass that called this
        channel.eventLoop().execute(() -> {
            HandshakeFairness.over(channel); // its turns belong to the present loop
            channel.deregister().addListener(left -> {
                if (left.isSuccess()) {
                    to.register(channel).addListener(entered -> entered(channel, entered.isSuccess(), then));
                } else {
                    channel.close();
                }
            });
        });
    }

    private static void entered(Channel channel, boolean registered, Runnable then) {
        if (!registered) {
            channel.close();
            while (channel.pipeline().last() != null) {
                channel.pipeline().removeLast(); // an unregistered channel does not release its handlers' bytes
            }
            return;
        }
        try {
            HandshakeFairness.resume(channel);
            then.run();
            channel.config().setAutoRead(true);
        } catch (RuntimeException e) {
            channel.close();
            throw e;
        }
    }
}
