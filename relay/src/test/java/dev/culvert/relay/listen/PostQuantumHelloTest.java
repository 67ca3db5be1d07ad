package dev.culvert.relay.listen;

import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.http.quota.SourceAddress;
import dev.culvert.relay.testing.ClientHelloBytes;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.util.concurrent.ImmediateEventExecutor;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** A ClientHello with a post-quantum key share needs two packets: it comes in any number of parts. */
class PostQuantumHelloTest {
    private static final String NAME = "acme-prod.tunnels.example.com";
    private static final byte[] HELLO = ClientHelloBytes.postQuantum(NAME);
    private static final SourceAddress SOURCE = new SourceAddress(1, false);

    /** The hello split once behind each byte; cut into records of each length; each byte on its own. */
    private static Stream<List<byte[]>> ways() {
        Stream<List<byte[]>> split = IntStream.range(1, HELLO.length)
                .mapToObj(at -> List.of(Arrays.copyOf(HELLO, at),
                        Arrays.copyOfRange(HELLO, at, HELLO.length)));
        Stream<List<byte[]>> records = IntStream.range(1, HELLO.length)
                .mapToObj(length -> List.of(ClientHelloBytes.inRecords(HELLO, length)));
        return Stream.of(split, records, Stream.of(bytewise(HELLO)),
                Stream.of(bytewise(ClientHelloBytes.inRecords(HELLO, 1)))).flatMap(way -> way);
    }

    private static List<byte[]> bytewise(byte[] bytes) {
        List<byte[]> parts = new ArrayList<>();
        for (byte next : bytes) {
            parts.add(new byte[]{next});
        }
        return parts;
    }

    private static byte[] joined(List<byte[]> parts) {
        return ClientHelloBytes.join(parts.toArray(new byte[0][]));
    }

    @Test
    void itIsLargerThanAnyClassicalOne() {
        assertThat(HELLO.length).isBetween(1300, 2000);
    }

    @Test
    void theReaderFindsItsNameHoweverItComes() {
        var allocator = new UnpooledByteBufAllocator(false);

        ways().forEach(parts -> {
            var reader = new ClientHelloReader(allocator);
            for (byte[] part : parts.subList(0, parts.size() - 1)) {
                assertThat(reader.take(Unpooled.wrappedBuffer(part))).isFalse();
            }
            assertThat(reader.take(Unpooled.wrappedBuffer(parts.getLast()))).isTrue();
            assertThat(reader.serverName()).isEqualTo(NAME);
            ByteBuf all = reader.bytes();
            assertThat(ByteBufUtil.getBytes(all)).isEqualTo(joined(parts));
            all.release();
        });

        assertThat(allocator.metric().usedHeapMemory()).isZero();
    }

    @Test
    void theSlotHandsItOnWholeHoweverItComes() {
        var gate = new HandshakeGate(3, 10_000, 10_000, 1 << 20);

        ways().forEach(parts -> {
            var channel = new EmbeddedChannel();
            var handshake = ImmediateEventExecutor.INSTANCE.<Void>newPromise();
            channel.freezeTime();
            channel.pipeline().addFirst(new HandshakeSlot(gate, SOURCE, handshake));
            parts.forEach(part -> channel.writeInbound(Unpooled.wrappedBuffer(part)));
            channel.runPendingTasks();
            ByteBuf whole = channel.readInbound();
            assertThat(ByteBufUtil.getBytes(whole)).isEqualTo(joined(parts));
            whole.release();
            handshake.setSuccess(null);
            channel.finishAndReleaseAll();
        });

        assertThat(gate.handshakes()).isZero();
        assertThat(gate.helloBytes()).isZero();
    }

    @Test
    void theCertificateIsChosenByItsNameHoweverItComes() {
        ways().forEach(parts -> {
            List<String> asked = new ArrayList<>();
            var channel = new EmbeddedChannel();
            channel.pipeline().addLast(new NameChoice(name -> {
                asked.add(String.valueOf(name));
                throw new IllegalStateException("the choice is enough here");
            }, channel));
            channel.pipeline().addLast(new ChannelInboundHandlerAdapter() {
                @Override
                public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
                    assertThat(cause).hasStackTraceContaining("the choice is enough here");
                }
            });
            parts.forEach(part -> channel.writeInbound(Unpooled.wrappedBuffer(part)));
            channel.finishAndReleaseAll();
            assertThat(asked).isNotEmpty().containsOnly(NAME);
        });
    }
}
