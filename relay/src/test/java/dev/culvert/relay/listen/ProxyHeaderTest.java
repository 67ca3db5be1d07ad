package dev.culvert.relay.listen;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.CorruptedFrameException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.Objects;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ProxyHeaderTest {
    private static final String SIGNATURE = "0d0a0d0a000d0a515549540a";
    /** 192.0.2.7:40000 to 198.51.100.1:443. */
    private static final String IPV4 = "c0000207c63364019c4001bb";
    private static final String IPV6 = "20010db8000000000000000000000001" + "20010db8000000000000000000000002"
            + "9c4001bb";

    private static @Nullable ProxyHeader read(ByteBuf bytes) {
        try {
            return ProxyHeader.read(bytes);
        } finally {
            bytes.release();
        }
    }

    private static ByteBuf text(String text) {
        return Unpooled.copiedBuffer(text.replace("~", "\r\n"), StandardCharsets.ISO_8859_1);
    }

    private static ByteBuf hex(String digits) {
        return Unpooled.wrappedBuffer(ByteBufUtil.decodeHexDump(digits.replace(" ", "")));
    }

    private static InetSocketAddress source(@Nullable ProxyHeader header) {
        return Objects.requireNonNull(Objects.requireNonNull(header).source());
    }

    @ParameterizedTest
    @CsvSource({"PROXY TCP4 192.0.2.7 198.51.100.1 40000 443~, 192.0.2.7, 40000",
            "PROXY TCP4 0.0.0.0 255.255.255.255 0 65535~, 0.0.0.0, 0",
            "PROXY TCP6 2001:db8::1 2001:db8::2 40000 443~, 2001:db8:0:0:0:0:0:1, 40000"})
    void aLineTellsWhoConnected(String line, String address, int port) {
        InetSocketAddress source = source(read(text(line)));

        assertThat(source.getAddress().getHostAddress()).isEqualTo(address);
        assertThat(source.getPort()).isEqualTo(port);
    }

    @ParameterizedTest
    @ValueSource(strings = {"PROXY UNKNOWN~", "PROXY UNKNOWN ffff::1 whatever 1 2~"})
    void aLineMayNotKnow(String line) {
        assertThat(read(text(line))).isEqualTo(new ProxyHeader(null, null));
    }

    @ParameterizedTest
    @ValueSource(strings = {"GET / HTTP/1.1~", "PROXY  TCP4 1.1.1.1 2.2.2.2 1 2~",
            "proxy TCP4 1.1.1.1 2.2.2.2 1 2~", "PROXY TCP4 1.1.1.1 2.2.2.2 1 2\n",
            "PROXY TCP4 1.1.1.1 2.2.2.2 1 2 ~", "PROXY TCP4 1.1.1.1 2.2.2.2 1 2 3~",
            "PROXY TCP4 1.1.1.1 2.2.2.2 1~", "PROXY TCP4 1.1.1.1 2.2.2.2 1 65536~",
            "PROXY TCP4 1.1.1.1 2.2.2.2 +1 2~", "PROXY TCP4 1.1.1.1 2.2.2.2 01 2~",
            "PROXY TCP4 1.1.1 2.2.2.2 1 2~", "PROXY TCP4 1.1.1.256 2.2.2.2 1 2~",
            "PROXY TCP4 01.1.1.1 2.2.2.2 1 2~", "PROXY TCP4 ::1 ::2 1 2~", "PROXY TCP6 1.1.1.1 ::2 1 2~",
            "PROXY TCP6 [::1] ::2 1 2~", "PROXY TCP6 ::g ::2 1 2~", "PROXY UDP4 1.1.1.1 2.2.2.2 1 2~",
            "PROXY UNKNOWNX~", "PROXY ~", "\u0016\u0003\u0001", "\r\nGET"})
    void whatIsNoLineOfTcpIsRefused(String line) {
        assertThatThrownBy(() -> read(text(line))).isInstanceOf(CorruptedFrameException.class);
    }

    @Test
    void aLineHasAnEndWithin107Bytes() {
        assertThat(read(text("PROXY UNKNOWN " + "x".repeat(91) + "~"))).isNotNull();
        assertThatThrownBy(() -> read(text("PROXY UNKNOWN " + "x".repeat(92) + "~")))
                .isInstanceOf(CorruptedFrameException.class);
        assertThatThrownBy(() -> read(text("PROXY UNKNOWN " + "x".repeat(200))))
                .isInstanceOf(CorruptedFrameException.class);
    }

    @ParameterizedTest
    @CsvSource({"21 11 000c " + IPV4 + ", 192.0.2.7, 443",
            "21 21 0024 " + IPV6 + ", 2001:db8:0:0:0:0:0:1, 443",
            "21 11 0013 " + IPV4 + " 04 0000 03 0001 ff, 192.0.2.7, 443"})
    void aBinaryHeaderTellsWhoConnectedAndWhereTo(String rest, String address, int port) {
        ProxyHeader header = read(hex(SIGNATURE + rest));

        assertThat(source(header).getAddress().getHostAddress()).isEqualTo(address);
        assertThat(header).extracting(ProxyHeader::destination)
                .extracting(InetSocketAddress::getPort)
                .isEqualTo(port);
    }

    @ParameterizedTest
    @ValueSource(strings = {"20 00 0000", "20 11 000c " + IPV4, "21 00 0000", "21 00 0003 040000",
            "20 31 0002 ffff"})
    void aBinaryHeaderMayBeTheBalancersOwnOrNotKnow(String rest) {
        assertThat(read(hex(SIGNATURE + rest))).isEqualTo(new ProxyHeader(null, null));
    }

    @ParameterizedTest
    @ValueSource(strings = {"11 11 000c " + IPV4, "22 11 000c " + IPV4, "21 12 000c " + IPV4,
            "21 31 00d8", "21 11 000b " + IPV4, "21 21 000c " + IPV4, "21 11 1001",
            "21 11 000d " + IPV4 + " 00", "21 11 0010 " + IPV4 + " 03 0002 ff", "21 99 0000"})
    void whatIsNoBinaryHeaderOfTcpIsRefused(String rest) {
        assertThatThrownBy(() -> read(hex(SIGNATURE + rest))).isInstanceOf(CorruptedFrameException.class);
    }

    @ParameterizedTest
    @ValueSource(strings = {"50524f5859205443503420312e312e312e3120322e322e322e32203120320d0a",
            SIGNATURE + "21 11 0013 " + IPV4 + " 04 0000 03 0001 ff"})
    void everyPrefixWaitsForMoreAndWhatIsBehindStays(String whole) {
        byte[] bytes = ByteBufUtil.decodeHexDump(whole.replace(" ", ""));
        for (int length = 0; length < bytes.length; length++) {
            ByteBuf prefix = Unpooled.wrappedBuffer(bytes, 0, length);

            assertThat(ProxyHeader.read(prefix)).isNull();
            assertThat(prefix.readableBytes()).isEqualTo(length);
        }
        ByteBuf all = Unpooled.wrappedBuffer(bytes, new byte[]{1, 2, 3});

        assertThat(ProxyHeader.read(all)).isNotNull();
        assertThat(all.readableBytes()).isEqualTo(3);
    }

    @Test
    void noBytesDoAnythingElse() {
        Random random = new Random(7);
        byte[] header = ByteBufUtil
                .decodeHexDump((SIGNATURE + "211100" + "13" + IPV4 + "0400000300" + "01ff"));
        byte[] line = "PROXY TCP4 1.1.1.1 2.2.2.2 1 2\r\n".getBytes(StandardCharsets.US_ASCII);
        for (int round = 0; round < 20_000; round++) {
            byte[] bytes = (random.nextBoolean() ? header : line).clone();
            for (int change = random.nextInt(4); change >= 0; change--) {
                bytes[random.nextInt(bytes.length)] = (byte) random.nextInt(256);
            }
            try {
                read(Unpooled.wrappedBuffer(bytes));
            } catch (CorruptedFrameException e) {
                assertThat(e).hasMessageNotContaining("null");
            }
        }
    }
}
