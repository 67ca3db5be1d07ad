package dev.culvert.relay.quota;

import dev.culvert.http.quota.Quota;
import dev.culvert.http.quota.SourceAddress;
import dev.culvert.protocol.body.BodyQueue;
import dev.culvert.relay.exchange.RequestFacts;
import io.netty.channel.EventLoop;
import io.netty.util.NetUtil;
import org.jspecify.annotations.Nullable;

/**
 * What one exchange holds of the memory budget, at what it costs: body bytes, {@link #PART_BYTES} for each part that is not
 * merged with another, and heads as they are decoded. It counts for the runtime, and from {@link #CLAIMED_FROM} on for the
 * caller's source address. While memory is short, reports that bytes were taken, which let more of them come, wait until
 * there is room. Belongs to the connection's event loop.
 */
public final class BudgetedBytes {
    /** A part beside its bytes: the buffer object, its place in a queue, and the promise of its write. */
    static final int PART_BYTES = BodyQueue.PART_BYTES;
    /** Exchanges that hold less count for no source address: the accounts take a lock for a moment. */
    static final int CLAIMED_FROM = 4 << 10;

    private final EventLoop loop;
    /** Told the bytes of the request, and of the response, that are now to be reported. */
    private final Report report;
    private final Runnable giveWay;
    private @Nullable MemoryShare share;
    private String caller = "";
    private @Nullable SourceAddress source;
    private Quota<SourceAddress>.@Nullable Claim claim;
    /** Body bytes, and what their parts cost beside them. */
    private int held;
    private int parts;
    /** All that is counted. */
    private int counted;
    private int owedRequest;
    private int owedResponse;
    private boolean waiting;

    /** Reports bytes as taken. */
    @FunctionalInterface
    public interface Report {
        void taken(int requestBytes, int responseBytes);
    }

    /** @param giveWay ends the exchange because its source address holds more than others that need memory; on its loop */
    public BudgetedBytes(EventLoop loop, Report report, Runnable giveWay) {
        this.loop = loop;
        this.report = report;
        this.giveWay = giveWay;
    }

    /** From now on bytes count for this share, and for the address of the caller as {@link RequestFacts} has it. */
    public void of(MemoryShare runtimes, String address) {
        share = runtimes;
        caller = address;
    }

    /** Whether there is memory for its request to begin. */
    boolean mayBegin() {
        MemoryShare of = share;
        if (of == null || !of.isSpent()) {
            return true;
        }
        of.budget().asks(source());
        return !of.isSpentFor(source());
    }

    /** A part of a body came. */
    public void take(int bytes) {
        if (share != null) {
            int object = held == 0 || bytes >= BodyQueue.SMALL ? PART_BYTES : 0;
            held += bytes;
            parts += object;
            count(bytes + object);
        }
    }

    /** A head is held, until the end. */
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
        } else if (counted >= CLAIMED_FROM) {
            claim = of.budget().sources().open(source(), () -> loop.execute(this::giveWay));
            claim.take(counted);
        }
    }

    /** Whether what came last is more than there is room for, so that the exchange has to end. */
    public boolean isTooMuch() {
        MemoryShare of = share;
        return of != null && of.budget().isAlmostGone() && of.budget().isTooMuch(of, source());
    }

    /** Bytes of bodies are gone. */
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

    /** Unless its exchange was over before: the next one of the connection is not to blame. */
    private void giveWay() {
        if (claim != null) {
            giveWay.run();
        }
    }

    /** Gives everything back. Nothing counts any more. */
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

    /** The bytes of the request whose sender was not told yet that more may come. */
    public int owedRequest() {
        return owedRequest;
    }

    /** The account of the caller. */
    SourceAddress source() {
        SourceAddress known = source;
        if (known == null) {
            known = SourceAddress.of(NetUtil.createInetAddressFromIpAddressString(caller));
            source = known;
        }
        return known;
    }

    /** Whether nothing should be read now; {@link Report} is called, if only with zeros, when that ends. */
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

    /** Reports bytes now, or when there is room. */
    public void taken(int requestBytes, int responseBytes) {
        if (isStopped()) {
            owedRequest += requestBytes;
            owedResponse += responseBytes;
        } else {
            report.taken(requestBytes, responseBytes);
        }
    }

    /** The bytes of the response that are still to be reported; the caller does that. */
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
