package dev.culvert.protocol.frame;

import io.netty.buffer.ByteBufUtil;
import java.nio.ByteBuffer;

/**
 * What a side says of itself when a session opens (docs/protocol.md §4).
 *
 * @param minVersion lowest protocol version spoken
 * @param maxVersion highest protocol version spoken; of a client's hello equal to {@code minVersion}
 * @param capabilities bits of §4, as {@link #AUTH}
 * @param instanceHigh first half of the random id of the process
 * @param instanceLow second half
 * @param connection index of the client's connection, 0..3
 * @param takeOver whether this connection may take the runtime over from another instance
 * @param limits what this side accepts
 * @param nonce 32 random bytes
 * @param software name and version, at most 100 bytes of UTF-8
 */
public record Hello(int minVersion, int maxVersion, long capabilities, long instanceHigh, long instanceLow,
        int connection, boolean takeOver, Limits limits, Nonce nonce, String software) {

    /** The version of docs/protocol.md. */
    public static final int VERSION = 1;

    /** The capability of in-band re-authentication, which both sides of this version have. */
    public static final long AUTH = 1;

    /** The capability of announcements, which both sides of this version have. */
    public static final long ANNOUNCE = 2;

    /** The capability of streams of kind {@link StreamKind#TCP}, which both sides of this version have. */
    public static final long TCP = 4;

    /**
     * Of a server: the client's certificate did not come by TLS, so AUTH is wanted before READY. Of a client: it can do
     * that.
     */
    public static final long PROOF = 8;

    /** Longest software name, in bytes of UTF-8. */
    static final int MAX_SOFTWARE = 100;

    /**
     * What a side accepts.
     *
     * @param streams streams open at once
     * @param headBytes bytes of a head, encoded and decoded
     * @param headFields fields of a head
     * @param hpackTableBytes dynamic table of its decoder, 0..64 KiB
     * @param streamWindow bytes that may arrive on a stream before a grant, 1 KiB..16 MiB
     * @param sessionWindow bytes that may arrive on the session before a grant, 64 KiB..1 GiB
     */
    public record Limits(int streams, int headBytes, int headFields, int hpackTableBytes, int streamWindow,
            int sessionWindow) {
        public Limits {
            require(streams >= 0 && headBytes >= 0 && headFields >= 0 && headFields <= 0xffff,
                    "limits out of range");
            require(hpackTableBytes >= 0 && hpackTableBytes <= 64 << 10, "HPACK table out of range");
            require(streamWindow >= 1 << 10 && streamWindow <= HeadOptions.MAX_WINDOW,
                    "stream window out of range");
            require(sessionWindow >= 64 << 10 && sessionWindow <= 1 << 30, "session window out of range");
        }
    }

    /** 32 random bytes, compared and printed nowhere. */
    public record Nonce(long a, long b, long c, long d) {
        /** The 32 bytes as they are on the wire. */
        public byte[] bytes() {
            return ByteBuffer.allocate(4 * Long.BYTES).putLong(a).putLong(b).putLong(c).putLong(d).array();
        }

        @Override
        public String toString() {
            return "***";
        }
    }

    public Hello {
        require(minVersion >= 0 && minVersion <= maxVersion && maxVersion <= 0xffff, "versions out of order");
        require(connection >= 0 && connection <= 3, "connection index out of range");
        require(ByteBufUtil.utf8Bytes(software) <= MAX_SOFTWARE, "software name too long");
    }

    /** The highest version that both ranges hold, or 0 when there is none. */
    public int commonVersion(Hello other) {
        int common = Math.min(maxVersion, other.maxVersion);
        return common >= Math.max(minVersion, other.minVersion) ? common : 0;
    }

    /** The same, saying one version only: a client's answer. */
    public Hello withVersion(int version) {
        return new Hello(version, version, capabilities, instanceHigh, instanceLow, connection, takeOver,
                limits, nonce,
                software);
    }

    private static void require(boolean condition, String otherwise) {
        if (!condition) {
            throw ProtocolException.session(ErrorCode.PROTOCOL, otherwise);
        }
    }
}
