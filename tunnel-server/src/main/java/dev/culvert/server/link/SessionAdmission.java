package dev.culvert.server.link;

import dev.culvert.http.quota.Quota;
import dev.culvert.http.quota.SourceAddress;
import dev.culvert.relay.listen.CallerAddress;
import io.netty.channel.Channel;
import io.netty.util.AttributeKey;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * Bounds the sessions that are being opened, from the upgrade request to the session's start. After a storm
 * of TLS handshakes, certificates and hellos follow as a second wave. Clients that TLS has proven share their
 * places by runtime, the others by source address. Few places exist for proofs being judged, which cost
 * processor time. Many exist for clients whose proof has not arrived, which cost a connection's memory for 5
 * s at most. When no place is free, the newest session of the runtime or address with the most places is
 * closed for another's. Callable from any thread.
 *
 * <pre>
 *  upgrade ──certificate by TLS──► PROVEN ──────────────────────┐
 *     └──a proof is promised──► SILENT ──the proof came──► JUDGED ──► live, or closed
 * </pre>
 */
public final class SessionAdmission {
    /**
     * The number of places of clients proven by TLS: a second of work for one core. Each is free again within
     * a round trip, and after 10 s in any case.
     */
    public static final int MAX_PROVEN = 512;
    /**
     * The number of places of clients whose proof has not arrived: a waiting WebSocket and session of some 16
     * KiB each. Clients that answer within a second can open 2,000 sessions a second.
     */
    public static final int MAX_SILENT = 2048;
    /**
     * The number of places of proofs being judged. Each verifies two signatures: in total half a second of
     * the judging thread.
     */
    public static final int MAX_JUDGED = 512;
    /** The shortest delay before a refused client may try again. */
    private static final Duration SHORTEST_WAIT = Duration.ofSeconds(1);
    /** The longest delay. A wide range flattens the next wave. */
    private static final Duration LONGEST_WAIT = Duration.ofSeconds(10);
    private static final AttributeKey<Place> PLACE = AttributeKey.valueOf(SessionAdmission.class, "place");

    private final Quota<String> proven;
    private final Quota<SourceAddress> silent;
    private final Quota<SourceAddress> judged;
    private final RandomGenerator random;

    /** The place of one connection until its session is live. Used on the connection's event loop. */
    private final class Place {
        private final Channel channel;
        private Quota<?>.Claim claim;

        Place(Channel channel, Quota<?>.Claim claim) {
            this.channel = channel;
            this.claim = claim;
        }

        boolean judge() {
            Quota<?>.Claim next = judged.tryOpen(source(channel), 1, () -> giveWay(channel));
            if (next == null) {
                return false;
            }
            claim.close();
            claim = next;
            return true;
        }

        void end() {
            claim.close();
        }
    }

    /** @param random spreads the delays of refused clients; thread-safe */
    public SessionAdmission(int maxProven, int maxSilent, int maxJudged, RandomGenerator random) {
        proven = new Quota<>(maxProven);
        silent = new Quota<>(maxSilent);
        judged = new Quota<>(maxJudged);
        this.random = random;
    }

    /**
     * Takes a place until {@link #opened} or the channel's end. Returns false when no place is free.
     *
     * @param runtimeId the runtime of the certificate that TLS carried; null: the client promised a proof
     */
    boolean begin(Channel channel, @Nullable String runtimeId) {
        Runnable giveWay = () -> giveWay(channel);
        Quota<?>.Claim claim = runtimeId == null
                ? silent.tryOpen(source(channel), 1, giveWay)
                : proven.tryOpen(runtimeId, 1, giveWay);
        if (claim == null) {
            return false;
        }
        channel.attr(PLACE).set(new Place(channel, claim));
        channel.closeFuture().addListener(closed -> opened(channel));
        return true;
    }

    private static SourceAddress source(Channel channel) {
        return channel.remoteAddress() instanceof InetSocketAddress
                ? SourceAddress.of(CallerAddress.of(channel))
                : SourceAddress.UNKNOWN;
    }

    /** Closes the channel on a later pass of its event loop, because the caller may hold locks. */
    private static void giveWay(Channel channel) {
        channel.eventLoop().execute(channel::close);
    }

    /**
     * Moves the channel to a place for judging: its proof has arrived. Returns false when no such place is
     * free.
     */
    static boolean judge(Channel channel) {
        Place place = channel.attr(PLACE).get();
        return place == null || place.judge();
    }

    /** Frees the place of {@code channel}: its session has begun. */
    static void opened(Channel channel) {
        Place place = channel.attr(PLACE).getAndSet(null);
        if (place != null) {
            place.end();
        }
    }

    /** The delay for a refused client, in whole seconds. */
    Duration retryAfter() {
        return Duration
                .ofSeconds(random.nextLong(SHORTEST_WAIT.toSeconds(), LONGEST_WAIT.toSeconds() + 1));
    }

    /** The number of sessions being opened. */
    public int count() {
        return (int) (proven.used() + silent.used() + judged.used());
    }
}
