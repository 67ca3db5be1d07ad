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
 * Bounds the sessions that are being opened, from the upgrade request to the session's start: after a storm's TLS
 * handshakes, their certificates and hellos are a second wave. What is scarce is shared: places of clients that TLS has
 * proven by runtimes; places of the others by source address, few of them while a proof is judged, which costs
 * processor time, and many while none has come, which costs a connection's memory for 5 s at most. When there is no
 * place the newest session of whoever has most gives way to another's. Callable from any thread.
 *
 * <pre>
 *  upgrade ──certificate by TLS──► PROVEN ──────────────────────┐
 *     └──a proof is promised──► SILENT ──the proof came──► JUDGED ──► live, or closed
 * </pre>
 */
public final class SessionAdmission {
    /** A second of work for one core; each is over within a round trip, and after 10 s in any case. */
    public static final int MAX_PROVEN = 512;
    /** A WebSocket and a session that wait, some 16 KiB each. Clients that are not slower than a second are 2,000 a second. */
    public static final int MAX_SILENT = 2048;
    /** Two signatures to verify each: half a second of the thread that judges. */
    public static final int MAX_JUDGED = 512;
    /** Who is sent away comes back after this at least, */
    private static final Duration SHORTEST_WAIT = Duration.ofSeconds(1);
    /** and at most: far apart, so that the next wave is a lower one. */
    private static final Duration LONGEST_WAIT = Duration.ofSeconds(10);
    private static final AttributeKey<Place> PLACE = AttributeKey.valueOf(SessionAdmission.class, "place");

    private final Quota<String> proven;
    private final Quota<SourceAddress> silent;
    private final Quota<SourceAddress> judged;
    private final RandomGenerator random;

    /** What a connection uses until its session is live. On the connection's event loop. */
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

    /** @param random spreads those that are sent away; thread-safe */
    public SessionAdmission(int maxProven, int maxSilent, int maxJudged, RandomGenerator random) {
        proven = new Quota<>(maxProven);
        silent = new Quota<>(maxSilent);
        judged = new Quota<>(maxJudged);
        this.random = random;
    }

    /**
     * Takes a place until {@link #opened} or the channel's end. Returns false, and takes none, when there is none.
     *
     * @param runtimeId whose certificate TLS brought; null: a proof is promised
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

    /** On a later pass of its event loop: who needs the place may hold locks. */
    private static void giveWay(Channel channel) {
        channel.eventLoop().execute(channel::close);
    }

    /** The promised proof has come. Returns false when there is no place for it to be judged now. */
    static boolean judge(Channel channel) {
        Place place = channel.attr(PLACE).get();
        return place == null || place.judge();
    }

    /** The session of {@code channel} has begun. */
    static void opened(Channel channel) {
        Place place = channel.attr(PLACE).getAndSet(null);
        if (place != null) {
            place.end();
        }
    }

    /** How long somebody who found no place should wait: whole seconds. */
    Duration retryAfter() {
        return Duration
                .ofSeconds(random.nextLong(SHORTEST_WAIT.toSeconds(), LONGEST_WAIT.toSeconds() + 1));
    }

    /** Sessions that are being opened now. */
    public int count() {
        return (int) (proven.used() + silent.used() + judged.used());
    }
}
