package dev.culvert.protocol.session;

import dev.culvert.protocol.frame.FrameCodec;
import dev.culvert.protocol.frame.HeadOptions;
import dev.culvert.protocol.session.StreamState.OutgoingHead;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.util.AsciiString;
import org.jspecify.annotations.Nullable;

/**
 * Writes one head at a time, in as many frames and batches as it needs. A head is encoded when its first
 * frame is written. After that it must be sent completely, because the peer's HPACK state depends on it
 * (docs/protocol.md §5).
 */
final class HeadWriter {
    /** A scratch buffer that a large head has grown beyond this size in bytes is released. */
    private static final int SCRATCH_KEPT = 8 << 10;
    /** Space for kind and options before a block, with all options but the spelling at their maximum size. */
    private static final int OPTIONS_ROOM = 64;

    private final Heads heads;
    private ByteBuf scratch = Unpooled.EMPTY_BUFFER;
    private @Nullable Begun begun;
    private boolean continues;
    private int spellingBytes;

    private record Begun(StreamState stream, OutgoingHead head, HeadOptions options) {}

    HeadWriter(Heads heads) {
        this.heads = heads;
    }

    /** Whether a head is partly sent. No other frame may be sent meanwhile. */
    boolean isBusy() {
        return begun != null;
    }

    /** Whether the partly sent head belongs to this stream. */
    boolean isWriting(StreamState stream) {
        return begun != null && begun.stream == stream;
    }

    /** The number of bytes of the head that wait. */
    int waitingBytes() {
        return scratch.readableBytes();
    }

    void begin(StreamState stream, OutgoingHead head) {
        if (scratch.capacity() == 0 || scratch.capacity() > SCRATCH_KEPT) {
            scratch = Unpooled.buffer(512);
        }
        scratch.clear();
        heads.encode(stream.id, head.fields(), scratch);
        AsciiString note = heads.note(head.fields());
        spellingBytes = note == null ? 0 : note.length();
        stream.onWire = true;
        HeadOptions options = head.options();
        begun = new Begun(stream, head, note == null ? options : options.withSpelling(note));
        continues = false;
    }

    /**
     * Appends the next frame of the current head. Returns its stream, or null if there is no head or no frame
     * fits.
     */
    @Nullable
    StreamState poll(ByteBuf out) {
        Begun now = begun;
        int overhead = FrameCodec.HEADER_BYTES + (continues ? 0 : OPTIONS_ROOM + spellingBytes);
        int room = Math.min(out.maxWritableBytes(), FrameCodec.MAX_PAYLOAD) - overhead;
        int bytes = Math.min(scratch.readableBytes(), room);
        if (now == null || room < 0 || (bytes == 0 && scratch.isReadable())) {
            return null;
        }
        OutgoingHead head = now.head;
        boolean last = bytes == scratch.readableBytes();
        int flags = (continues ? FrameCodec.HEAD_MORE : head.flags()) | (last ? FrameCodec.HEAD_LAST : 0);
        FrameCodec.encodeHead(now.stream.id, flags, head.kind(), now.options, scratch, bytes, out);
        continues = true;
        if (last) {
            begun = null;
            now.stream.localEnded |= (head.flags() & FrameCodec.END) != 0;
        }
        return now.stream;
    }

    /** Drops the partly sent head, because the peer has disconnected. */
    void forget() {
        begun = null;
    }
}
