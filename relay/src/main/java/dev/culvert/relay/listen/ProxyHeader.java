package dev.culvert.relay.listen;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.handler.codec.CorruptedFrameException;
import io.netty.util.NetUtil;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The PROXY protocol header that a balancer sends before a connection's bytes (HAProxy, versions 1 and 2):
 * source and destination of the connection. Parsing is strict: only exact headers for TCP are accepted.
 *
 * @param source the caller's address; null: the balancer itself connected (LOCAL), or it does not know the
 *     source (UNKNOWN, UNSPEC)
 * @param destination the address that the caller connected to; null exactly when {@code source} is null
 */
record ProxyHeader(@Nullable InetSocketAddress source, @Nullable InetSocketAddress destination) {
    /** The maximum length of a version 2 header after its fixed 16 bytes: addresses and extensions. */
    static final int MAX_LENGTH = 4096;
    /** The maximum length of a version 1 header with its CR LF (§2.1). */
    static final int MAX_LINE = 107;

    private static final ProxyHeader NOBODY = new ProxyHeader(null, null);
    private static final byte[] SIGNATURE = {0x0d, 0x0a, 0x0d, 0x0a, 0x00, 0x0d, 0x0a, 0x51, 0x55, 0x49, 0x54,
            0x0a};
    private static final byte[] LINE = "PROXY ".getBytes(StandardCharsets.US_ASCII);
    private static final Pattern TCP = Pattern
            .compile("PROXY TCP([46]) ([0-9a-fA-F.:]+) ([0-9a-fA-F.:]+) ([0-9]{1,5}) ([0-9]{1,5})");
    private static final Pattern OCTETS = Pattern.compile("(0|[1-9][0-9]{0,2})(\\.(0|[1-9][0-9]{0,2})){3}");
    private static final int FIXED = 16;
    private static final int LOCAL = 0x20;
    private static final int PROXY = 0x21;
    private static final int UNSPEC = 0x00;
    private static final int TCP4 = 0x11;
    private static final int TCP6 = 0x21;

    /**
     * Reads the header at the beginning of {@code in} and moves the reader index behind it. Returns null and
     * reads nothing if the header is not complete yet. Borrows {@code in} for the call. Throws
     * CorruptedFrameException if the bytes are not a PROXY header.
     */
    static @Nullable ProxyHeader read(ByteBuf in) {
        return begins(in, SIGNATURE) ? binary(in) : begins(in, LINE) ? line(in) : refuse("no PROXY header");
    }

    private static boolean begins(ByteBuf in, byte[] with) {
        int seen = Math.min(in.readableBytes(), with.length);
        for (int i = 0; i < seen; i++) {
            if (in.getByte(in.readerIndex() + i) != with[i]) {
                return false;
            }
        }
        return true;
    }

    private static @Nullable ProxyHeader line(ByteBuf in) {
        int window = Math.min(in.readableBytes(), MAX_LINE);
        int end = in.indexOf(in.readerIndex(), in.readerIndex() + window, (byte) '\n');
        if (end < 0) {
            return window < MAX_LINE ? null : refuse("a line without an end");
        }
        String text = in.readCharSequence(end + 1 - in.readerIndex(), StandardCharsets.ISO_8859_1).toString();
        if (!text.endsWith("\r\n")) {
            return refuse("a line without CR LF");
        }
        String line = text.substring(0, text.length() - 2);
        if (line.equals("PROXY UNKNOWN") || line.startsWith("PROXY UNKNOWN ")) {
            return NOBODY; // §2.1: the rest of the line is ignored
        }
        Matcher words = TCP.matcher(line);
        if (!words.matches()) {
            return refuse("a line that is neither TCP4, TCP6 nor UNKNOWN");
        }
        boolean ipv6 = words.group(1).equals("6");
        return new ProxyHeader(socket(words.group(2), words.group(4), ipv6),
                socket(words.group(3), words.group(5), ipv6));
    }

    private static InetSocketAddress socket(String address, String port, boolean ipv6) {
        boolean valid = ipv6 ? NetUtil.isValidIpV6Address(address) : OCTETS.matcher(address).matches();
        byte[] bytes = valid ? NetUtil.createByteArrayFromIpAddressString(address) : null;
        if (bytes == null || Integer.parseInt(port) > 65_535 || (port.length() > 1 && port.startsWith("0"))) {
            throw new CorruptedFrameException("an invalid address or port");
        }
        return socket(bytes, Integer.parseInt(port));
    }

    private static InetSocketAddress socket(byte[] address, int port) {
        try {
            return new InetSocketAddress(InetAddress.getByAddress(address), port);
        } catch (UnknownHostException e) {
            throw new IllegalStateException("4 and 16 bytes are addresses", e);
        }
    }

    private static @Nullable ProxyHeader binary(ByteBuf in) {
        if (in.readableBytes() < FIXED) {
            return null;
        }
        int start = in.readerIndex();
        int command = in.getUnsignedByte(start + 12);
        int family = in.getUnsignedByte(start + 13);
        int length = in.getUnsignedShort(start + 14);
        int addresses = family == TCP4 ? 12 : family == TCP6 ? 36 : 0;
        boolean local = command == LOCAL;
        if (!local && (command != PROXY || (addresses == 0 && family != UNSPEC))) {
            return refuse("neither LOCAL nor PROXY, or not TCP");
        } else if (length > MAX_LENGTH || (!local && length < addresses)) {
            return refuse("an invalid header length");
        } else if (in.readableBytes() < FIXED + length) {
            return null;
        }
        in.skipBytes(FIXED);
        ByteBuf content = in.readSlice(length);
        if (local || family == UNSPEC) {
            return NOBODY;
        }
        byte[] source = ByteBufUtil.getBytes(content.readSlice((addresses - 4) / 2));
        byte[] destination = ByteBufUtil.getBytes(content.readSlice((addresses - 4) / 2));
        var header = new ProxyHeader(socket(source, content.readUnsignedShort()),
                socket(destination, content.readUnsignedShort()));
        requireWhole(content);
        return header;
    }

    /**
     * Checks that the extensions (§2.2.7: type, length and value) fill the header exactly. Their values are
     * not used.
     */
    private static void requireWhole(ByteBuf extensions) {
        while (extensions.isReadable()) {
            if (extensions.readableBytes() < 3
                    || extensions.getUnsignedShort(extensions.readerIndex() + 1) > extensions.readableBytes()
                            - 3) {
                throw new CorruptedFrameException("an extension longer than its header");
            }
            extensions.skipBytes(3 + extensions.getUnsignedShort(extensions.readerIndex() + 1));
        }
    }

    private static ProxyHeader refuse(String why) {
        throw new CorruptedFrameException(why);
    }
}
