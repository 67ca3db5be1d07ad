package dev.culvert.appproxy.git;

import dev.culvert.appproxy.git.RefUpdate.Kind;
import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.handlers.spi.HandlerException.Reason;
import io.netty.buffer.ByteBuf;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Reads the commands at the beginning of a push (gitprotocol-pack, "Reference Update Request"): packets up to
 * a flush. It takes plain commands only, so that Git reads them no other way. Used by one thread at a time.
 */
final class PushHead {
    /** The maximum number of refs that a push changes. Rules are asked for each. */
    static final int MAX_UPDATES = 250;
    /** The maximum bytes of commands, which name refs and the borders of a shallow clone. */
    static final int MAX_BYTES = 256 << 10;

    private static final int LENGTH_DIGITS = 4;
    private static final Pattern COMMAND = Pattern.compile(
            "([0-9a-f]{40}|[0-9a-f]{64}) ([0-9a-f]{40}|[0-9a-f]{64}) ([^\\x00-\\x20\\x7f]{1,1024})(\\x00.*)?\n?",
            Pattern.DOTALL);
    private static final Pattern SHALLOW = Pattern.compile("shallow ([0-9a-f]{40}|[0-9a-f]{64})\n?");

    private final StringBuilder packet = new StringBuilder();
    private final List<RefUpdate> updates = new ArrayList<>();
    private int bytes;
    private boolean complete;

    /** Whether all commands were read. */
    boolean isComplete() {
        return complete;
    }

    List<RefUpdate> updates() {
        return List.copyOf(updates);
    }

    /**
     * Reads the next bytes of the push; borrows the buffer for the call. Returns whether all commands were
     * read. Throws {@link HandlerException}: 400 for other than commands, 413 for too many.
     */
    boolean read(ByteBuf part) {
        for (int i = part.readerIndex(); i < part.writerIndex() && !complete; i++) {
            if (++bytes > MAX_BYTES) {
                throw tooLong();
            }
            packet.append((char) (part.getByte(i) & 0xff));
            if (packet.length() >= LENGTH_DIGITS && packet.length() >= length()) {
                end();
            }
        }
        return complete;
    }

    private int length() {
        int length = 0;
        for (int i = 0; i < LENGTH_DIGITS; i++) {
            int digit = Character.digit(packet.charAt(i), 16);
            if (digit < 0) {
                throw malformed();
            }
            length = length << LENGTH_DIGITS | digit;
        }
        if (length > 0 && length <= LENGTH_DIGITS) {
            throw malformed();
        }
        return length;
    }

    private void end() {
        if (packet.length() == LENGTH_DIGITS) {
            complete = true;
            return;
        }
        String text = packet.substring(LENGTH_DIGITS);
        Matcher command = COMMAND.matcher(text);
        if (command.matches()) {
            if (updates.size() == MAX_UPDATES) {
                throw tooMany();
            }
            updates.add(new RefUpdate(
                    new String(command.group(3).getBytes(StandardCharsets.ISO_8859_1),
                            StandardCharsets.UTF_8),
                    isNone(command.group(2))
                            ? Kind.DELETE
                            : isNone(command.group(1)) ? Kind.CREATE : Kind.UPDATE));
        } else if (!SHALLOW.matcher(text).matches()) {
            throw malformed();
        }
        packet.setLength(0);
    }

    private static boolean isNone(String object) {
        return object.chars().allMatch(digit -> digit == '0');
    }

    static HandlerException malformed() {
        return HandlerException.of(Reason.BAD_REQUEST, "this is no push: commands, then a pack");
    }

    private static HandlerException tooLong() {
        return HandlerException.of(Reason.BODY_TOO_LARGE, "the commands of a push have at most "
                + (MAX_BYTES >> 10) + " KiB: names of refs, and the borders of a shallow clone; push the refs"
                + " in parts, or from a whole clone");
    }

    private static HandlerException tooMany() {
        return HandlerException.of(Reason.BODY_TOO_LARGE,
                "a push changes at most " + MAX_UPDATES + " refs; push them in parts");
    }
}
