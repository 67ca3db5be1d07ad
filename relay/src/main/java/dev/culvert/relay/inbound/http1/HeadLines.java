package dev.culvert.relay.inbound.http1;

import io.netty.buffer.ByteBuf;
import io.netty.util.AsciiString;
import java.nio.charset.StandardCharsets;

/**
 * Checks the lines of a head, or of trailers, for white space that lenient and strict recipients interpret
 * differently: folded fields (RFC 9112 §5.2), anything except empty lines before the request line (§2.2), and
 * words of the request line separated by anything except one space (§3).
 */
final class HeadLines {
    private static final AsciiString LENGTH = AsciiString.cached("content-length:");

    private boolean loose;
    private boolean beforeFirstLine = true;
    /** Whether the last byte of the empty lines before the request line was a CR. */
    private boolean afterCr;
    private boolean inHead = true;
    private int lengths;
    private boolean lineStarts;
    private int wordEnd;

    /** Whether a violation was found. */
    boolean areLoose() {
        return loose;
    }

    void require(boolean strict) {
        loose |= !strict;
    }

    /** Starts again, with a head or with the lines after a head or a chunk. */
    void reset(boolean head) {
        loose = false;
        beforeFirstLine = head;
        inHead = head;
        lengths = 0;
        afterCr = false;
        lineStarts = false;
    }

    /** Checks the bytes of {@code in} from {@code start} to {@code end}. Borrows {@code in} for the call. */
    void take(ByteBuf in, int start, int end) {
        int at = start;
        while (beforeFirstLine && at < end) {
            byte b = in.getByte(at);
            if (b != '\r' && b != '\n') {
                beforeFirstLine = false;
                loose |= (b <= ' ' && b >= 0) || afterCr;
            } else {
                loose |= afterCr != (b == '\n');
                afterCr = b == '\r';
                at++;
            }
        }
        while (at < end) {
            byte b = in.getByte(at);
            loose |= lineStarts && (b == ' ' || b == '\t');
            int newline = in.indexOf(at, end, (byte) '\n');
            countLength(in, at, newline);
            lineStarts = newline >= 0;
            at = newline < 0 ? end : newline + 1;
        }
    }

    /** Counts length fields (RFC 9112 §6.3), because the decoder uses the first of several in HTTP/1.0. */
    private void countLength(ByteBuf in, int at, int newline) {
        boolean mayBe = lineStarts && inHead && (in.getByte(at) | 0x20) == 'c'
                && newline - at > LENGTH.length();
        if (mayBe && LENGTH.contentEqualsIgnoreCase(
                in.toString(at, LENGTH.length(), StandardCharsets.ISO_8859_1))) {
            lengths++;
            loose |= lengths > 1;
        }
    }

    /**
     * Checks a word of the request line. If {@code follows}, exactly one space must separate it from the
     * previous word.
     */
    void word(byte[] line, int start, int length, boolean follows) {
        loose |= follows && (start != wordEnd + 1 || line[wordEnd] != ' ');
        wordEnd = start + length;
    }
}
