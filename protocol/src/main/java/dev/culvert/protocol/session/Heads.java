package dev.culvert.protocol.session;

import dev.culvert.protocol.fields.HeadFields;
import dev.culvert.protocol.fields.Spellings;
import dev.culvert.protocol.fields.TableSizeUpdates;
import dev.culvert.protocol.frame.ErrorCode;
import dev.culvert.protocol.frame.Hello;
import dev.culvert.protocol.frame.Hello.Limits;
import dev.culvert.protocol.frame.ProtocolException;
import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http2.DefaultHttp2HeadersDecoder;
import io.netty.handler.codec.http2.DefaultHttp2HeadersEncoder;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.handler.codec.http2.Http2HeadersEncoder.SensitivityDetector;
import io.netty.util.AsciiString;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The encoder and decoder of heads with their state (docs/protocol.md §5): by slots if both sides can, else
 * by HPACK.
 */
final class Heads {
    /**
     * Fields with secrets, and fields that differ in every request. An entry of the latter is never used
     * again, but pushes one out that is.
     */
    private static final Set<AsciiString> NEVER_KEPT = Set.of(AsciiString.cached("authorization"),
            AsciiString.cached("proxy-authorization"), AsciiString.cached("cookie"),
            AsciiString.cached("set-cookie"), AsciiString.cached("x-request-id"),
            AsciiString.cached("traceparent"));
    private static final SensitivityDetector SENSITIVITY = (name, value) -> NEVER_KEPT
            .contains(AsciiString.of(name));
    /** The size of a field in addition to its name and value (RFC 7541 §4.1). */
    private static final int FIELD_OVERHEAD = 32;

    private final DefaultHttp2HeadersEncoder encoder = new DefaultHttp2HeadersEncoder(SENSITIVITY);
    private final DefaultHttp2HeadersDecoder decoder;
    private final Limits accepts;
    private boolean spells;
    private @Nullable SlotEncoder slotEncoder;
    private @Nullable SlotDecoder slotDecoder;

    Heads(Limits accepts) {
        this.accepts = accepts;
        this.decoder = new DefaultHttp2HeadersDecoder(true, true, accepts.headBytes());
        try {
            decoder.configuration().maxHeaderTableSize(accepts.hpackTableBytes());
        } catch (Http2Exception e) {
            throw new IllegalArgumentException(
                    "hpackTableBytes: " + accepts.hpackTableBytes() + " (expected: 0..65536)", e);
        }
    }

    /**
     * Applies the limits of the peer's decoder. Called before the first head.
     *
     * @param slots whether both sides have {@link Hello#SLOTS}
     * @param spelling whether both sides have {@link Hello#SPELLING}
     */
    void peerAccepts(Limits peer, boolean slots, boolean spelling) {
        spells = slots && spelling;
        if (slots) {
            slotEncoder = new SlotEncoder(NEVER_KEPT,
                    Math.min(peer.hpackTableBytes(), accepts.hpackTableBytes()));
            slotDecoder = new SlotDecoder(accepts.hpackTableBytes(), accepts.headBytes(),
                    accepts.headFields());
            return;
        }
        try {
            encoder.configuration().maxHeaderListSize(peer.headBytes());
            encoder.configuration()
                    .maxHeaderTableSize(Math.min(peer.hpackTableBytes(), accepts.hpackTableBytes()));
        } catch (Http2Exception e) {
            throw ProtocolException.session(ErrorCode.PROTOCOL, "HPACK table out of range");
        }
    }

    /**
     * Whether a peer with these limits accepts the head. Called before encoding, because an encoded head must
     * be sent.
     */
    static boolean fit(Http2Headers head, Limits peer) {
        return bytes(head) <= peer.headBytes() && head.size() <= peer.headFields();
    }

    /** The decoded size of a head (RFC 7541 §4.1), which is close to its memory. */
    static long bytes(Http2Headers head) {
        long bytes = 0;
        for (Map.Entry<CharSequence, CharSequence> field : head) {
            bytes += field.getKey().length() + field.getValue().length() + FIELD_OVERHEAD;
        }
        return bytes;
    }

    /** Appends the block of a head. */
    void encode(int streamId, Http2Headers head, ByteBuf out) {
        if (slotEncoder != null) {
            slotEncoder.encode(head, out);
            return;
        }
        try {
            encoder.encodeHeaders(streamId, head, out);
        } catch (Http2Exception e) {
            throw ProtocolException.session(ErrorCode.INTERNAL, "a head could not be encoded");
        }
    }

    /** Returns the note of the spelling of a head that goes to the peer; null if it needs none. */
    @Nullable
    AsciiString note(Http2Headers head) {
        return spells && head instanceof HeadFields own ? Spellings.note(own) : null;
    }

    /** Applies the peer's note to a decoded head. */
    void spell(Http2Headers head, @Nullable AsciiString note) {
        if (spells && note != null && head instanceof HeadFields own) {
            Spellings.read(note, own);
        }
    }

    /** Decodes a block. Borrows {@code block}. The state stays valid after a stream error. */
    Http2Headers decode(int streamId, ByteBuf block) {
        if (slotDecoder != null) {
            return slotDecoder.decode(streamId, block);
        }
        if (!TableSizeUpdates.areFew(block)) {
            throw ProtocolException.session(ErrorCode.COMPRESSION, "too many table size updates");
        }
        Http2Headers head;
        try {
            head = decoder.decodeHeaders(streamId, block);
        } catch (Http2Exception e) {
            if (Http2Exception.isStreamError(e)) {
                boolean tooLarge = e instanceof Http2Exception.HeaderListSizeException;
                throw ProtocolException.stream(streamId,
                        tooLarge ? ErrorCode.HEAD_TOO_LARGE : ErrorCode.PROTOCOL,
                        tooLarge ? "the head is too large" : "the head is not valid");
            }
            throw ProtocolException.session(ErrorCode.COMPRESSION, "a head can't be decompressed");
        } catch (RuntimeException e) {
            throw ProtocolException.session(ErrorCode.COMPRESSION, "a head can't be decompressed");
        }
        if (head.size() > accepts.headFields()) {
            throw ProtocolException.stream(streamId, ErrorCode.HEAD_TOO_LARGE,
                    "the head has too many fields");
        }
        return head;
    }
}
