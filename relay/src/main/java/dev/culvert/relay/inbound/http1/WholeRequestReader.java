package dev.culvert.relay.inbound.http1;

import dev.culvert.http.fields.FieldLines;
import dev.culvert.http.path.TargetForm;
import dev.culvert.protocol.fields.HeadFields;
import dev.culvert.relay.SpelledNames;
import dev.culvert.relay.quota.CallerLimits;
import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.util.AsciiString;
import io.netty.util.concurrent.FastThreadLocal;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Reads requests of the usual form that came whole, at a tenth of the decoder's price. Declines all others,
 * those with a fault too: the decoder reads them again, and decides. Of one connection.
 */
final class WholeRequestReader {
    private static final byte[] VERSION = " HTTP/1.1\r\n".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] GET = "GET ".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] HEAD = "HEAD ".getBytes(StandardCharsets.US_ASCII);
    /** Room for fields that forwarding adds. */
    private static final int EXTRA_FIELDS = 12;
    private static final FastThreadLocal<byte[]> HEADS = new FastThreadLocal<>() {
        @Override
        protected byte[] initialValue() {
            return new byte[FieldLines.MAX_BYTES];
        }
    };

    private final FieldLines lines = new FieldLines();
    private final int maxBytes;
    private final int maxFields;
    private final long maxTarget;
    /** The request line of the last request, with its CRLF. */
    private byte[] line = {};
    private HttpMethod method = HttpMethod.GET;
    private AsciiString target = AsciiString.EMPTY_STRING;
    /** The last host that is valid. */
    private @Nullable AsciiString host;
    private Predicate<CharSequence> declined = path -> false;

    WholeRequestReader(CallerLimits limits) {
        maxBytes = (int) Math.min(FieldLines.MAX_BYTES, limits.maxHeadBytes().bytes());
        maxFields = limits.maxHeadFields();
        maxTarget = limits.maxUriBytes().bytes();
    }

    /** Declines requests for these targets. */
    void decline(Predicate<CharSequence> targets) {
        declined = targets;
    }

    /** Reads a request at the reader index; null if it isn't whole or not usual, and then nothing is read. */
    @Nullable
    WholeRequest read(ByteBuf in) {
        byte[] head = HEADS.get();
        int length = Math.min(in.readableBytes(), maxBytes);
        in.getBytes(in.readerIndex(), head, 0, length);
        int fields = readLine(head, length);
        int end = fields < 0 ? -1 : lines.read(head, fields, length);
        AsciiString named = end < 0 ? null : lines.host();
        boolean usual = named != null && isValid(named) && lines.contentLength() == null
                && lines.count() <= maxFields && target.length() <= maxTarget && !declined.test(target);
        if (!usual || named == null) {
            return null;
        }
        in.skipBytes(end);
        var forwarded = new HeadFields(lines.count() + EXTRA_FIELDS);
        forwarded.method(method.asciiName()).authority(named).path(target);
        SpelledNames.add(lines, forwarded);
        return new WholeRequest(method, forwarded, named.toString());
    }

    /** Returns the index behind the request line; -1 if it is not usual. */
    private int readLine(byte[] head, int length) {
        if (line.length > 0 && startsWith(head, 0, length, line)) {
            return line.length;
        }
        boolean get = startsWith(head, 0, length, GET);
        if (!get && !startsWith(head, 0, length, HEAD)) {
            return -1;
        }
        int from = get ? GET.length : HEAD.length;
        int end = from;
        while (end < length && head[end] > ' ' && head[end] < 0x7f && head[end] != '#') {
            end++;
        }
        if (end == from || head[from] != '/' || !startsWith(head, end, length, VERSION)) {
            return -1;
        }
        method = get ? HttpMethod.GET : HttpMethod.HEAD;
        line = Arrays.copyOf(head, end + VERSION.length);
        target = new AsciiString(line, from, end - from, false);
        return line.length;
    }

    private static boolean startsWith(byte[] head, int from, int length, byte[] expected) {
        return length - from >= expected.length
                && Arrays.equals(head, from, from + expected.length, expected, 0, expected.length);
    }

    private boolean isValid(AsciiString named) {
        boolean valid = named.equals(host) || TargetForm.isAuthority(named.toString());
        host = valid ? named : host;
        return valid;
    }
}
