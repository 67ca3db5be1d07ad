package dev.culvert.routing;

import static dev.culvert.routing.RawUpstream.head;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.culvert.relay.upstream.ResponseCredit;
import dev.culvert.routing.RawUpstream.Peer;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

/** A slow reader at either end stops the writer at the other, and costs a bounded amount of memory. */
class BackPressureIT {
    private static final int BYTES = 64 << 20;
    /** The mark, and one read of the socket beyond it. */
    private static final long BOUND = ResponseCredit.HIGH_WATER_BYTES + (64 << 10);

    @AutoClose
    private final Loopback loopback = new Loopback();

    private Peer requested() {
        Peer peer = loopback.upstream.accept();
        peer.readHead();
        return peer;
    }

    @Test
    void muchCrossesFromTheUpstream() {
        Asker asker = loopback.get();
        requested().write(head("HTTP/1.1 200 OK", "content-length: " + BYTES))
                .writePattern(BYTES, new AtomicLong());

        asker.awaitEnd();

        assertThat(asker.received).hasValue(BYTES);
        assertThat(asker.checksum()).isEqualTo(Asker.checksumOf(BYTES));
    }

    @Test
    void muchCrossesToTheUpstream() {
        Asker asker = loopback.open("POST", "content-length", Integer.toString(BYTES));
        asker.upload(BYTES);
        Peer peer = requested();

        assertThat(peer.readChecksum(BYTES)).isEqualTo(Asker.checksumOf(BYTES));
        peer.write(head("HTTP/1.1 200 OK", "content-length: 0"));

        asker.awaitEnd().awaitConsumed(BYTES);
    }

    @Test
    void aStalledAskerStopsTheUpstream() {
        Asker asker = loopback.asker();
        asker.stalled = true;
        asker.get("/");
        Peer peer = requested().write(head("HTTP/1.1 200 OK", "content-length: " + BYTES));
        AtomicLong written = new AtomicLong();
        Thread writer = Thread.ofPlatform().daemon().start(() -> peer.writePattern(BYTES, written));

        awaitStandstill(written);

        assertThat(asker.received.get()).isBetween((long) ResponseCredit.HIGH_WATER_BYTES, BOUND);
        assertThat(loopback.relay.bufferedBytes()).isEqualTo(asker.received.get());
        assertThat(writer.isAlive()).isTrue();

        asker.resume();

        asker.awaitEnd();
        assertThat(asker.checksum()).isEqualTo(Asker.checksumOf(BYTES));
    }

    @Test
    void manyStalledAskersSlowNobodyElse() {
        for (int i = 0; i < 3; i++) {
            Asker stalled = loopback.asker();
            stalled.stalled = true;
            stalled.get("/");
            Peer peer = requested().write(head("HTTP/1.1 200 OK", "content-length: " + BYTES));
            Thread.ofPlatform().daemon().start(() -> peer.tryWritePattern(BYTES));
        }

        Asker other = loopback.get();
        Loopback.answer(loopback.upstream.accept());

        other.awaitEnd();
    }

    @Test
    void anUpstreamThatDoesNotReadStopsTheAsker() {
        Asker asker = loopback.open("POST", "content-length", Integer.toString(BYTES));
        asker.upload(BYTES);
        Peer peer = requested();

        awaitStandstill(asker.requestGiven);

        long held = asker.requestGiven.get() - asker.requestConsumed.get();
        assertThat(held).isBetween(1L, 64L << 10);
        assertThat(loopback.relay.bufferedBytes()).isEqualTo(held);
        assertThat(peer.readChecksum(BYTES)).isEqualTo(Asker.checksumOf(BYTES));
        peer.write(head("HTTP/1.1 200 OK", "content-length: 0"));
        asker.awaitEnd().awaitConsumed(BYTES);
    }

    @Test
    void singleBytesMergeWhileAnUpstreamDoesNotRead() {
        Asker asker = loopback.open("POST", "content-length", Integer.toString(BYTES));
        asker.upload(BYTES);
        requested();
        awaitStandstill(asker.requestGiven);
        List<ByteBuf> parts = IntStream.range(0, 2_000)
                .mapToObj(i -> Unpooled.buffer(1).writeByte(i))
                .toList();

        parts.forEach(asker::send);

        assertThat(parts.stream().filter(part -> part.refCnt() > 0)).hasSizeLessThan(5);
        asker.cancel();
    }

    @Test
    void aStalledResponseDoesNotKeepItsConnectionFromTheNext() {
        Asker asker = loopback.asker();
        asker.stalled = true;
        asker.get("/");
        Peer peer = requested();
        peer.write(head("HTTP/1.1 200 OK", "content-length: 80000")).writePattern(80_000, new AtomicLong());
        asker.awaitEnd();

        Asker next = loopback.get();
        Loopback.answer(peer);

        next.awaitEnd();
        asker.resume();
    }

    @Test
    void aCancelWhileStalledLeavesNothing() {
        Asker asker = loopback.asker();
        asker.stalled = true;
        asker.get("/");
        Peer peer = requested().write(head("HTTP/1.1 200 OK", "content-length: " + BYTES));
        Thread.ofPlatform().daemon().start(() -> peer.tryWritePattern(BYTES));
        await().until(() -> asker.received.get() >= ResponseCredit.HIGH_WATER_BYTES);

        asker.cancel();

        assertThat(loopback.relay.bufferedBytes()).isZero();
    }

    private static void awaitStandstill(AtomicLong count) {
        AtomicLong last = new AtomicLong(-1);
        await().pollInterval(Duration.ofMillis(300))
                .atMost(Loopback.LONG)
                .until(() -> count.get() > 0 && last.getAndSet(count.get()) == count.get());
    }
}
