package dev.culvert.relay.inbound;

import dev.culvert.http.fields.HostName;
import dev.culvert.http.forwarding.ForwardingRules;
import dev.culvert.http.observe.Telemetry;
import dev.culvert.relay.exchange.EdgeContext;
import dev.culvert.relay.exchange.EdgeMeters;
import dev.culvert.relay.exchange.EdgeReporting;
import dev.culvert.relay.exchange.EdgeRuntimes;
import dev.culvert.relay.exchange.TunnelWay;
import dev.culvert.relay.inbound.http1.Http1EdgeConnection;
import dev.culvert.relay.inbound.http1.Http1RequestDecoder;
import dev.culvert.relay.inbound.http1.Http1ResponseEncoder;
import dev.culvert.relay.inbound.http2.Http2EdgeConnection;
import dev.culvert.relay.quota.CallerLimits;
import dev.culvert.relay.quota.MemoryBudget;
import dev.culvert.relay.quota.OwnLimits;
import dev.culvert.relay.quota.RuntimeQuotas;
import dev.culvert.relay.quota.RuntimeUsage;
import dev.culvert.relay.testing.FakeRelay;
import io.netty.buffer.AbstractByteBufAllocator;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.util.AsciiString;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** One connection of the edge without a socket and without TLS; only {@code acme.example} is a runtime's host. */
public final class EmbeddedEdge implements AutoCloseable {
    static final String HOST = "acme.example";

    public final FakeRelay relay = new FakeRelay();
    public final RuntimeQuotas quotas;
    private final Telemetry telemetry = new Telemetry();
    private final AddressedChannel channel;

    public EmbeddedEdge() {
        this(CallerLimits.defaults());
    }

    EmbeddedEdge(CallerLimits limits) {
        this(limits, MemoryBudget.ofProcess(0));
    }

    public EmbeddedEdge(CallerLimits limits, MemoryBudget memory) {
        this(limits, memory, false);
    }

    /** One that speaks HTTP/2 from the first byte on. */
    static EmbeddedEdge http2() {
        return http2(MemoryBudget.ofProcess(0));
    }

    static EmbeddedEdge http2(MemoryBudget memory) {
        return new EmbeddedEdge(CallerLimits.defaults(), memory, true);
    }

    /** One that clients of the tunnel share. */
    public static EmbeddedEdge shared(TunnelWay door) {
        return new EmbeddedEdge(CallerLimits.defaults(), MemoryBudget.ofProcess(0), false, door);
    }

    private EmbeddedEdge(CallerLimits limits, MemoryBudget memory, boolean http2) {
        this(limits, memory, http2, null);
    }

    private EmbeddedEdge(CallerLimits limits, MemoryBudget memory, boolean http2, @Nullable TunnelWay door) {
        quotas = new RuntimeQuotas(limits.ofRuntime(), memory);
        EdgeRuntimes runtimes = authority -> HostName.of(authority).equals(HOST)
                ? new EdgeRuntimes.RuntimeEndpoint("acme/prod", relay, quotas.of("id-1", OwnLimits.NONE))
                : null;
        var shared = new EdgeContext(runtimes, new ForwardingRules("test", List.of()), limits,
                telemetry,
                new EdgeMeters(telemetry), AsciiString.cached("https"), door, EdgeReporting.NONE, memory);
        var decoder = new Http1RequestDecoder(limits);
        var encoder = new Http1ResponseEncoder();
        channel = new AddressedChannel();
        if (http2) {
            channel.pipeline().addLast(Http2EdgeConnection.of(shared));
        } else {
            channel.pipeline().addLast(decoder, encoder, new Http1EdgeConnection(shared, decoder, encoder));
        }
        channel.pipeline().fireChannelActive();
    }

    /** Has addresses, as a socket does. */
    public static final class AddressedChannel extends EmbeddedChannel {
        private boolean blocked;

        @Override
        protected void doWrite(ChannelOutboundBuffer in) throws Exception {
            if (!blocked) {
                super.doWrite(in);
            }
        }

        @Override
        protected SocketAddress localAddress0() {
            return new InetSocketAddress(InetAddress.getLoopbackAddress(), 8443);
        }

        @Override
        protected SocketAddress remoteAddress0() {
            return new InetSocketAddress(InetAddress.getLoopbackAddress(), 4711);
        }
    }

    public AddressedChannel channel() {
        return channel;
    }

    /** What the connection does with these bytes. */
    public String send(String text) {
        channel.writeInbound(Unpooled.copiedBuffer(text, StandardCharsets.ISO_8859_1));
        channel.runPendingTasks();
        return written();
    }

    /** Whether the socket takes more. */
    public void writable(boolean writable) {
        channel.unsafe().outboundBuffer().setUserDefinedWritability(1, writable);
        channel.runPendingTasks();
    }

    /** The caller's socket takes nothing any more, or all that waits. */
    public void block(boolean blocked) {
        channel.blocked = blocked;
        channel.flush();
        channel.runPendingTasks();
    }

    /** The caller leaves. */
    void hangUp() {
        channel.unsafe().close(channel.voidPromise());
        channel.runPendingTasks();
    }

    /** The writes that wait for the caller's socket. */
    public int waitingWrites() {
        channel.runPendingTasks();
        return channel.unsafe().outboundBuffer().size();
    }

    /** No buffer can be had for what is written from now on. */
    public void withoutDirectMemory() {
        channel.config().setAllocator(new AbstractByteBufAllocator(true) {
            @Override
            protected ByteBuf newHeapBuffer(int initial, int most) {
                throw new OutOfMemoryError("no memory");
            }

            @Override
            protected ByteBuf newDirectBuffer(int initial, int most) {
                throw new OutOfMemoryError("no direct memory");
            }

            @Override
            public boolean isDirectBufferPooled() {
                return false;
            }
        });
    }

    /** What was written since the last call. */
    public String written() {
        channel.runPendingTasks();
        var text = new StringBuilder();
        for (ByteBuf bytes = channel.readOutbound(); bytes != null; bytes = channel.readOutbound()) {
            text.append(bytes.toString(StandardCharsets.ISO_8859_1));
            bytes.release();
        }
        return text.toString();
    }

    /** Whether the socket is read. */
    public boolean isReading() {
        return channel.config().isAutoRead();
    }

    /** What the only runtime has used. */
    public RuntimeUsage usage() {
        return quotas.of("id-1", OwnLimits.NONE).usage();
    }

    public boolean isOpen() {
        return channel.isOpen();
    }

    /** The status code of an answer. */
    public static int status(String answer) {
        return answer.startsWith("HTTP/1.1 ") ? Integer.parseInt(answer.substring(9, 12)) : 0;
    }

    public FakeRelay.Exchange only() {
        return Objects.requireNonNull(relay.all.getLast());
    }

    @Override
    public void close() {
        channel.finishAndReleaseAll();
        telemetry.close();
    }
}
