package dev.culvert.server.edge;

import io.netty.buffer.ByteBuf;

/**
 * Watches the lines of a head, or of trailers, for white space that a lenient reader would take differently than a strict
 * one: folded fields (RFC 9112 §5.2), anything but empty lines in front of the request line (§2.2), and words of the
 * request line apart by anything but one space (§3).
 */
final class HeadLines {
    private boolean loose;
    private boolean beforeFirstLine = true;
    private boolean lineStarts;
    private int wordEnd;

    /** Whether something was amiss. */
    boolean areLoose() {
        return loose;
    }

    void require(boolean strict) {
        loose |= !strict;
    }

    /** Starts anew, with a head or with what follows a head or a chunk. */
    void reset(boolean head) {
        loose = false;
        beforeFirstLine = head;
        lineStarts = false;
    }

    /** Looks at the bytes of {@code in} from {@code start} to {@code end}. Borrows {@code in} for the call. */
    void take(ByteBuf in, int start, int end) {
        int at = start;
        while (beforeFirstLine && at < end) {
            byte b = in.getByte(at);
            if (b != '\r' && b != '\n') {
                beforeFirstLine = false;
                loose |= b <= ' ' && b >= 0;
            } else {
                at++;
            }
        }
        while (at < end) {
            byte b = in.getByte(at);
            loose |= lineStarts && (b == ' ' || b == '\t');
            int newline = in.indexOf(at, end, (byte) '\n');
            lineStarts = newline >= 0;
            at = newline < 0 ? end : newline + 1;
        }
    }

    /** A word of the request line; {@code follows} another, behind one space. */
    void word(byte[] line, int start, int length, boolean follows) {
        loose |= follows && (start != wordEnd + 1 || line[wordEnd] != ' ');
        wordEnd = start + length;
    }
}
