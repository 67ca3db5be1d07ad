package dev.culvert.protocol.netty;

import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.protocol.frame.ErrorCode;
import dev.culvert.protocol.frame.Frame;
import dev.culvert.protocol.frame.FrameCodec;
import dev.culvert.protocol.frame.HeadOptions;
import dev.culvert.protocol.frame.Hello;
import dev.culvert.protocol.frame.StreamKind;
import dev.culvert.protocol.session.Session;
import dev.culvert.protocol.session.SessionEvent;
import dev.culvert.protocol.session.SessionLimits;
import dev.culvert.protocol.session.WindowAccount;
import io.netty.buffer.AbstractByteBufAllocator;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http.websocketx.BinaryWebSocketFrame;
import io.netty.handler.codec.http.websocketx.PingWebSocketFrame;
import io.netty.handler.codec.http.websocketx.TextWebSocketFrame;
import io.netty.handler.codec.http.websocketx.WebSocketFrame;
import io.netty.handler.codec.http.websocketx.WebSocketFrameAggregator;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class TunnelChannelHandlerTest {
    private static final int CLOSE_FRAME = 0x88;

    private final Wire wire = new Wire();

    @AfterEach
    void nothingIsLeft() {
        wire.close();
        for (Wire.End end : List.of(wire.server, wire.client)) {
            assertThat(end.meter.bufferedBytes()).isZero();
            assertThat(end.meter.streams()).isZero();
        }
    }

    @Test
    void bothSidesAreLiveAfterTheHellos() {
        var live = new SessionEvent.Live(1, 2, 3, "acme/prod", "acme-prod.test");

        assertThat(wire.server.told).containsExactly(live);
        assertThat(wire.client.told).containsExactly(live);
    }

    @Test
    void anExchangeCrosses() {
        wire.client.application = stream -> {
            stream.respond(Wire.ok(), false, false);
            stream.data(Wire.ascii("hello"));
            stream.end(null);
            return new Wire.Told(stream);
        };

        Wire.Told answer = wire.server.get("/");
        wire.cross();

        assertThat(Objects.requireNonNull(answer.head).status()).hasToString("200");
        assertThat(answer.body).hasToString("hello");
        assertThat(answer.ended).isTrue();
        assertThat(wire.server.handler.streamCount()).isZero();
    }

    @Test
    void framesOfOnePassLeaveInOneMessage() {
        IntStream.range(0, 20).forEach(i -> wire.server.get("/" + i));

        assertThat(Wire.intercept(wire.server)).hasSize(1);
    }

    @Test
    void nothingIsWrittenToAFullSocketUntilItDrains() {
        wire.server.full(true);
        wire.server.get("/");
        assertThat(Wire.intercept(wire.server)).isEmpty();

        wire.server.full(false);

        assertThat(Wire.intercept(wire.server)).hasSize(1);
    }

    @Test
    void aListenerThatThrowsCostsItsOwnStreamOnly() {
        wire.client.application = stream -> {
            if (stream.id() == 1) {
                throw new IllegalStateException("bug");
            }
            stream.respond(Wire.ok(), false, true);
            return new Wire.Told(stream);
        };

        Wire.Told broken = wire.server.get("/1");
        Wire.Told sound = wire.server.get("/2");
        wire.cross();

        assertThat(Objects.requireNonNull(broken.reset).code()).isEqualTo(ErrorCode.INTERNAL);
        assertThat(sound.ended).isTrue();
    }

    @Test
    void aSessionErrorOfThePeerIsToldAndClosesWith1002() {
        wire.client.channel.writeInbound(garbage());

        assertThat(lastWords(wire.client)).isEqualTo(1002);
        assertThat(closed(wire.client).code()).isEqualTo(ErrorCode.PROTOCOL);
        assertThat(wire.client.channel.isActive()).isFalse();
    }

    @Test
    void aTextMessageIsASessionError() {
        inbound(wire.server, new TextWebSocketFrame("hello"));

        assertThat(lastWords(wire.server)).isEqualTo(1002);
    }

    @Test
    void anOwnFaultClosesWith1011() {
        wire.server.handler.close(ErrorCode.INTERNAL, "bug");

        assertThat(lastWords(wire.server)).isEqualTo(1011);
    }

    @Test
    void aConflictClosesWith1000() {
        wire.server.handler.close(ErrorCode.CONFLICT, "another client serves this runtime");

        assertThat(lastWords(wire.server)).isEqualTo(1000);
    }

    @Test
    void lastWordsDoNotWaitForAFullSocket() {
        wire.server.full(true);

        wire.server.handler.close(ErrorCode.UNAUTHORIZED, "the runtime was deleted");

        assertThat(Wire.intercept(wire.server)).hasSize(2);
    }

    @Test
    void thePeerHearsWhyTheSessionEnded() {
        wire.server.handler.close(ErrorCode.UNAUTHORIZED, "the runtime was deleted");
        wire.cross();

        assertThat(wire.client.told).contains(
                new SessionEvent.GoingAway(ErrorCode.UNAUTHORIZED, 0, 0, "the runtime was deleted"));
        assertThat(closed(wire.client).byPeer()).isTrue();
    }

    @Test
    void aDrainedSessionEndsWithItsLastStream() {
        Wire.Told answer = wire.server.get("/");
        var seen = new Wire.Told[1];
        wire.client.application = stream -> seen[0] = new Wire.Told(stream);
        wire.cross();
        wire.server.handler.goAway(ErrorCode.DRAINING, 0, "the server stops");
        wire.cross();
        assertThat(wire.client.channel.isActive()).isTrue();

        Objects.requireNonNull(seen[0].stream).respond(Wire.ok(), false, true);
        wire.cross();

        assertThat(answer.ended).isTrue();
        var reason = new SessionEvent.Closed(ErrorCode.DRAINING, "the server stops", true);
        assertThat(closed(wire.server)).isEqualTo(reason);
        assertThat(closed(wire.client)).isEqualTo(reason);
        assertThat(wire.client.channel.isActive()).isFalse();
    }

    @Test
    void aLostConnectionResetsItsStreamsAndFreesWhatWaits() {
        wire.client.application = stream -> {
            stream.respond(Wire.ok(), false, false);
            stream.data(Wire.ascii("never sent"));
            return new Wire.Told(stream);
        };
        Wire.Told answer = wire.server.get("/");
        wire.cross();

        wire.server.channel.close();
        wire.client.channel.close();

        assertThat(Objects.requireNonNull(answer.reset).cause()).isEqualTo(7); // tunnel-lost
        assertThat(closed(wire.server).byPeer()).isTrue();
        assertThat(closed(wire.client).byPeer()).isTrue();
    }

    @Test
    void aWebSocketPingIsAnswered() {
        inbound(wire.client, new PingWebSocketFrame(Wire.ascii("there?")));

        assertThat(Wire.intercept(wire.client)).singleElement()
                .satisfies(pong -> assertThat(pong[0] & 0xff).isEqualTo(0x8a));
    }

    @Test
    void ofPingsToAFullSocketTheLastIsAnsweredOnceItDrains() {
        wire.client.full(true);
        for (int i = 0; i < 1000; i++) {
            inbound(wire.client, new PingWebSocketFrame(Wire.ascii("a" + i)));
        }
        inbound(wire.client, new PingWebSocketFrame(Wire.ascii("the last")));
        assertThat(Wire.intercept(wire.client)).isEmpty();

        wire.client.full(false);

        assertThat(Wire.intercept(wire.client)).singleElement().satisfies(pong -> {
            assertThat(pong[0] & 0xff).isEqualTo(0x8a);
            assertThat(pong[1] & 0x7f).isEqualTo("the last".length());
        });
    }

    private static ChannelHandlerContext handler(Wire.End end) {
        return Objects.requireNonNull(end.channel.pipeline().context(WebSocketFrameAggregator.class));
    }

    private static BinaryWebSocketFrame manyPings(int frames) {
        ByteBuf batch = Unpooled.buffer();
        for (int i = 0; i < frames; i++) {
            FrameCodec.encode(new Frame.Ping(i, true), batch);
        }
        return new BinaryWebSocketFrame(batch);
    }

    @Test
    void aPassHandlesABudgetOfFrames() {
        BinaryWebSocketFrame first = manyPings(TunnelChannelHandler.FRAMES_A_PASS + 1);
        BinaryWebSocketFrame second = manyPings(1);
        wire.server.channel.freezeTime();
        handler(wire.server).fireChannelRead(first);
        handler(wire.server).fireChannelRead(second);
        wire.server.channel.runPendingTasks();

        assertThat(first.content().isReadable()).isTrue();
        assertThat(second.refCnt()).isEqualTo(1);
        assertThat(wire.server.channel.config().isAutoRead()).isFalse();

        wire.server.channel.advanceTimeBy(1, TimeUnit.MILLISECONDS);
        wire.server.channel.runScheduledPendingTasks();

        assertThat(first.refCnt()).isZero();
        assertThat(second.refCnt()).isZero();
        assertThat(wire.server.channel.config().isAutoRead()).isTrue();
    }

    @Test
    void headsTakeMoreOfAPassThanOtherFrames() {
        int heads = TunnelChannelHandler.FRAMES_A_PASS / TunnelChannelHandler.HEAD_COST + 1;
        ByteBuf batch = Unpooled.buffer();
        for (int stream = 1; stream <= heads; stream++) {
            FrameCodec.encode(new Frame.Head(stream, FrameCodec.HEAD_OPENS | FrameCodec.HEAD_LAST,
                    StreamKind.HTTP, HeadOptions.NONE,
                    Unpooled.wrappedBuffer(ByteBufUtil.decodeHexDump("82874103612e6284"))), batch);
        }
        int bytes = batch.readableBytes();
        wire.client.channel.freezeTime();
        handler(wire.client).fireChannelRead(new BinaryWebSocketFrame(batch));
        wire.client.channel.runPendingTasks();

        assertThat(batch.readableBytes()).isEqualTo(bytes / heads);

        wire.client.channel.advanceTimeBy(1, TimeUnit.MILLISECONDS);
        wire.client.channel.runScheduledPendingTasks();

        assertThat(batch.refCnt()).isZero();
    }

    @Test
    void whatWaitsForItsPassIsReleasedWithTheConnection() {
        BinaryWebSocketFrame first = manyPings(TunnelChannelHandler.FRAMES_A_PASS + 1);
        handler(wire.server).fireChannelRead(first);
        assertThat(first.refCnt()).isEqualTo(1);

        wire.server.channel.close();

        assertThat(first.refCnt()).isZero();
    }

    /** A server's session whose client should have spoken long ago; nothing was read since, as its loop was busy. */
    private static EmbeddedChannel overdue(Wire.End told) {
        SessionLimits limits = SessionLimits.defaults();
        var session = new Session(Session.Role.SERVER, hello(1), limits, WindowAccount.NONE,
                () -> System.nanoTime() - limits.openingTimeout().multipliedBy(2).toNanos());
        var channel = new EmbeddedChannel();
        channel.freezeTime();
        channel.pipeline().addLast(new TunnelChannelHandler(session, false, told, new SessionMeter()));
        channel.runPendingTasks(); // the deadline's timer, and no look at the socket yet
        return channel;
    }

    private static Hello hello(long instance) {
        return new Hello(Hello.VERSION, Hello.VERSION, Hello.AUTH, instance, 7, 0, false,
                SessionLimits.defaults().accepts(), new Hello.Nonce(1, 2, 3, 4), "late");
    }

    @Test
    void aPeerWhoseBytesWaitUnreadIsNotDead() {
        EmbeddedChannel channel = overdue(wire.server);
        int before = wire.server.told.size();
        ByteBuf late = Unpooled.buffer();
        FrameCodec.encode(new Frame.OpeningHello(hello(2)), late);

        channel.writeInbound(new BinaryWebSocketFrame(late));
        channel.pipeline().get(TunnelChannelHandler.class).ready(1, 2, 3, "acme/prod", "acme-prod.test");
        channel.advanceTimeBy(1, TimeUnit.SECONDS);
        channel.runScheduledPendingTasks();

        assertThat(wire.server.told.subList(before, wire.server.told.size()))
                .noneMatch(SessionEvent.Closed.class::isInstance);
        channel.finishAndReleaseAll();
    }

    @Test
    void aPeerThatHasSentNothingIsDeadBehindALastLook() {
        EmbeddedChannel channel = overdue(wire.server);
        assertThat(wire.server.told).noneMatch(SessionEvent.Closed.class::isInstance);

        channel.advanceTimeBy(1, TimeUnit.SECONDS);
        channel.runScheduledPendingTasks();

        assertThat(closed(wire.server).code()).isEqualTo(ErrorCode.TIMEOUT);
        channel.finishAndReleaseAll();
    }

    private static final class NoDirectMemory extends AbstractByteBufAllocator {
        @Override
        protected ByteBuf newHeapBuffer(int initial, int most) {
            return UnpooledByteBufAllocator.DEFAULT.heapBuffer(initial, most);
        }

        @Override
        protected ByteBuf newDirectBuffer(int initial, int most) {
            throw new OutOfMemoryError("no direct memory");
        }

        @Override
        public boolean isDirectBufferPooled() {
            return false;
        }
    }

    @Test
    void withoutDirectMemoryOnlyItsSessionEnds() {
        var limits = SessionLimits.defaults();
        var channel = new EmbeddedChannel();
        var meter = new SessionMeter();
        channel.config().setAllocator(new NoDirectMemory());
        channel.pipeline()
                .addLast(new TunnelChannelHandler(
                        new Session(Session.Role.SERVER, hello(1), limits, WindowAccount.NONE,
                                System::nanoTime),
                        false,
                        wire.server,
                        meter));
        channel.runPendingTasks();

        assertThat(closed(wire.server).detail()).contains("memory");
        assertThat(meter.refusedMemory()).isOne();
        assertThat(channel.isOpen()).isFalse();
        assertThat(wire.client.channel.isOpen()).isTrue();
    }

    /** DATA of a stream that was never opened. */
    private static ByteBuf garbage() {
        return Unpooled.wrappedBuffer(new byte[]{(byte) 0x82, 8, 4, 1, 0, 0, 0, 0, 0, 99});
    }

    /** Past the WebSocket decoder: its own tests are Netty's. */
    private static void inbound(Wire.End end, WebSocketFrame frame) {
        assertThat(frame).isNotInstanceOf(BinaryWebSocketFrame.class);
        Objects.requireNonNull(end.channel.pipeline().context(WebSocketFrameAggregator.class))
                .fireChannelRead(frame);
    }

    /** The status of the close frame, which must be the last message. */
    private static int lastWords(Wire.End end) {
        List<byte[]> messages = Wire.intercept(end);
        byte[] close = messages.getLast();
        assertThat(close[0] & 0xff).isEqualTo(CLOSE_FRAME);
        boolean masked = (close[1] & 0x80) != 0;
        int at = masked ? 6 : 2;
        int high = (close[at] ^ (masked ? close[2] : 0)) & 0xff;
        int low = (close[at + 1] ^ (masked ? close[3] : 0)) & 0xff;
        return high << 8 | low;
    }

    private static SessionEvent.Closed closed(Wire.End end) {
        return end.told.stream()
                .filter(SessionEvent.Closed.class::isInstance)
                .map(SessionEvent.Closed.class::cast)
                .findFirst()
                .orElseThrow();
    }
}
