package dev.culvert.relay.outbound;

import dev.culvert.http.fields.ContentLength;
import dev.culvert.http.fields.FieldLines;
import dev.culvert.protocol.fields.HeadFields;
import dev.culvert.relay.SpelledNames;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.util.AsciiString;
import io.netty.util.concurrent.FastThreadLocal;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Reads responses of the usual form that came whole, at a tenth of the decoder's price. Declines all others:
 * the decoder reads them again, and decides. Of one connection.
 */
final class WholeResponseReader {
    private static final byte[] VERSION = "HTTP/1.1 ".getBytes(StandardCharsets.US_ASCII);
    private static final int STATUS_DIGITS = 3;
    private static final int EXTRA_FIELDS = 4;
    private static final FastThreadLocal<byte[]> HEADS = new FastThreadLocal<>() {
        @Override
        protected byte[] initialValue() {
            return new byte[FieldLines.MAX_BYTES];
        }
    };

    private final FieldLines lines = new FieldLines();
    private final int maxBody;
    /** The status line of the last response, with its CRLF. */
    private byte[] line = {};
    private AsciiString status = AsciiString.EMPTY_STRING;

    /** @param maxBody bytes */
    WholeResponseReader(int maxBody) {
        this.maxBody = maxBody;
    }

    /**
     * Reads a response to another method than HEAD at the reader index; null if it is not whole or not usual,
     * and then nothing is read.
     */
    @Nullable
    WholeResponse read(ByteBuf in) {
        byte[] head = HEADS.get();
        int length = Math.min(in.readableBytes(), FieldLines.MAX_BYTES);
        in.getBytes(in.readerIndex(), head, 0, length);
        int fields = readLine(head, length);
        int end = fields < 0 ? -1 : lines.read(head, fields, length);
        int body = end < 0 || lines.host() != null ? -1 : bodyBytes();
        if (body < 0 || in.readableBytes() - end < body) {
            return null;
        }
        in.skipBytes(end);
        var forwarded = new HeadFields(lines.count() + EXTRA_FIELDS);
        forwarded.status(status);
        SpelledNames.add(lines, forwarded);
        return new WholeResponse(forwarded, lines.keepAlive(),
                body == 0 ? Unpooled.EMPTY_BUFFER : in.readRetainedSlice(body));
    }

    private int bodyBytes() {
        AsciiString length = lines.contentLength();
        boolean plain = length != null && (length.length() == 1 || length.charAt(0) != '0');
        long bytes = plain && length != null ? ContentLength.parse(length) : -1;
        return bytes > maxBody ? -1 : (int) bytes;
    }

    /** Returns the index behind the status line; -1 if it is not usual. */
    private int readLine(byte[] head, int length) {
        if (line.length > 0 && startsWith(head, length, line)) {
            return line.length;
        }
        int digits = VERSION.length;
        int end = digits + STATUS_DIGITS;
        if (!startsWith(head, length, VERSION) || end >= length || head[end] != ' ') {
            return -1;
        }
        int code = 0;
        for (int i = digits; i < end; i++) {
            if (head[i] < '0' || head[i] > '9') {
                return -1;
            }
            code = 10 * code + head[i] - '0';
        }
        while (end < length && head[end] >= ' ' && head[end] < 0x7f) {
            end++;
        }
        boolean whole = end + 1 < length && head[end] == '\r' && head[end + 1] == '\n';
        if (!whole || code < 200 || code > 599 || code == 204 || code == 205 || code == 304) {
            return -1;
        }
        status = HttpResponseStatus.valueOf(code).codeAsText();
        line = Arrays.copyOf(head, end + 2);
        return line.length;
    }

    private static boolean startsWith(byte[] head, int length, byte[] expected) {
        return length >= expected.length
                && Arrays.equals(head, 0, expected.length, expected, 0, expected.length);
    }
}
