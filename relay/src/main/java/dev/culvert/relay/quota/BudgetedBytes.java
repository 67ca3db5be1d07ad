package dev.culvert.relay.quota;

import dev.culvert.http.quota.Quota;
import dev.culvert.http.quota.SourceAddress;
import dev.culvert.protocol.body.BodyQueue;
import dev.culvert.relay.exchange.RequestFacts;
import io.netty.channel.EventLoop;
import io.netty.util.NetUtil;
import org.jspecify.annotations.Nullable;

/**
 * Counts the memory that one exchange holds: body bytes, {@link #PART_BYTES} for each part that is not merged
 * with another, and heads as they are decoded. The bytes count for the runtime. They also count for the
 * caller's source address, from {@link #CLAIMED_FROM} on, or while half of the runtime's share is taken.
 * While memory is short, reports of consumed bytes are delayed until there is room, because they allow
 * senders to send more. Belongs to the connection's event loop.
 */
public final class BudgetedBytes {
    /** The overhead of a part: the buffer object, its place in a queue, and the promise of its write. */
    static final int PART_BYTES = BodyQueue.PART_BYTES;
    /**
     * The number of bytes below which an exchange does not count for its source address while there is
     * memory, because those accounts take a lock.
     */
    static final int CLAIMED_FROM = 4 << 10;

    private final EventLoop loop;
    /** Receives the request and response bytes that are to be reported as consumed. */
    private final Report report;
    private final Runnable giveWay;
    private @Nullable MemoryShare share;
    private String caller = "";
    private @Nullable SourceAddress source;
    private Quota<SourceAddress>.@Nullable Claim claim;
    /** The body bytes, and the overhead of their parts. */
    private int held;
    private int parts;
    /** All counted bytes. */
    private int counted;
    private int owedRequest;
    private int owedResponse;
    private boolean waiting;

    /** Reports bytes as consumed. */
    @FunctionalInterface
    public interface Report {
        void taken(int requestBytes, int responseBytes);
    }

    /**
     * @param giveWay ends the exchange because its source address holds more than others that need memory;
     *     runs on the loop
     */
    public BudgetedBytes(EventLoop loop, Report report, Runnable giveWay) {
        this.loop = loop;
        this.report = report;
        this.giveWay = giveWay;
    }

    /**
     * Sets the share and the caller's address, in the form of {@link RequestFacts}, for which later bytes
     * count.
     */
    public void of(MemoryShare runtimes, String address) {
        share = runtimes;
        caller = address;
    }

    /** Whether there is memory for the request to begin. */
    boolean mayBegin() {
        MemoryShare of = share;
        if (of == null) {
            return true;
        }
        if (of.aboveHalf() > 0) {
            of.begins(source());
        }
        if (!of.isSpent()) {
            return true;
        }
        of.budget().asks(source());
        of.makeRoom(source());
        return !of.isSpentFor(source());
    }

    /** Counts a part of a body. */
    public void take(int bytes) {
        if (share != null) {
            int object = held == 0 || bytes >= BodyQueue.SMALL ? PART_BYTES : 0;
            held += bytes;
            parts += object;
            count(bytes + object);
        }
    }

    /** Counts a head, which is held until the end. */
    public void takeHead(int bytes) {
        count(bytes);
    }

    private void count(int bytes) {
        MemoryShare of = share;
        if (of == null) {
            return;
        }
        counted += bytes;
        of.take(bytes);
        if (claim != null) {
            claim.take(bytes);
        } else if (counted >= CLAIMED_FROM || of.aboveHalf() > 0) {
            claim();
        }
    }

    /** Counts all held bytes for the caller's source address, however few they are. */
    public void claim() {
        MemoryShare of = share;
        if (of != null && claim == null) {
            claim = of.budget().sources().open(source(), () -> loop.execute(this::giveWay));
            claim.take(counted);
        }
    }

    /**
     * Whether the last received bytes exceed the memory, so that the exchange must end. If they exceed the
     * runtime's share, slow readers give way.
     */
    public boolean isTooMuch() {
        MemoryShare of = share;
        if (of != null) {
            of.came();
        }
        return of != null && of.budget().isAlmostGone() && of.budget().isTooMuch(of, source());
    }

    /** Subtracts body bytes that are no longer held. */
    public void give(int bytes) {
        int given = Math.min(bytes, held);
        held -= given;
        int left = held == 0 ? 0 : Math.min(parts, PART_BYTES * (2 + 2 * (held / BodyQueue.SMALL)));
        discount(given + parts - left);
        parts = left;
    }

    private void discount(int bytes) {
        MemoryShare of = share;
        if (of != null && bytes > 0) {
            counted -= bytes;
            of.give(bytes);
            if (claim != null) {
                claim.give(bytes);
            }
        }
    }

    /** Ends the exchange, unless it was over before: the connection's next exchange holds nothing of it. */
    private void giveWay() {
        if (claim != null) {
            giveWay.run();
        }
    }

    /** Returns all bytes to the budget. Later calls count nothing. */
    public void close() {
        discount(counted);
        held = 0;
        parts = 0;
        share = null;
        if (claim != null) {
            claim.close();
            claim = null;
        }
    }

    /** The request bytes whose consumption was not reported yet. */
    public int owedRequest() {
        return owedRequest;
    }

    /** The source address that accounts for the caller. */
    SourceAddress source() {
        SourceAddress known = source;
        if (known == null) {
            known = SourceAddress.of(NetUtil.createInetAddressFromIpAddressString(caller));
            source = known;
        }
        return known;
    }

    /** Whether reading must stop now. When that ends, {@link Report} is called, possibly with zeros. */
    public boolean isStopped() {
        MemoryShare of = share;
        if (of == null || !of.isSpent() || !of.isSpentFor(source())) {
            return false;
        }
        if (!waiting) {
            waiting = true;
            of.budget().whenFree(of, source(), loop, this::goOn);
        }
        return true;
    }

    /** Reports consumed bytes now, or when there is room. */
    public void taken(int requestBytes, int responseBytes) {
        if (isStopped()) {
            owedRequest += requestBytes;
            owedResponse += responseBytes;
        } else {
            report.taken(requestBytes, responseBytes);
        }
    }

    /** Returns the response bytes not reported yet. The caller of this method reports them. */
    public int settleResponse() {
        int owed = owedResponse;
        owedResponse = 0;
        return owed;
    }

    private void goOn() {
        waiting = false;
        int request = owedRequest;
        int response = owedResponse;
        owedRequest = 0;
        owedResponse = 0;
        taken(request, response);
    }
}
