package dev.culvert.protocol.frame;

import io.netty.buffer.ByteBufUtil;
import java.nio.ByteBuffer;

/**
 * The properties of one side, sent when a session opens (docs/protocol.md §4).
 *
 * @param minVersion the lowest supported protocol version
 * @param maxVersion the highest supported protocol version; in a client's hello equal to {@code minVersion}
 * @param capabilities bits of §4, for example {@link #AUTH}
 * @param instanceHigh first half of the random id of the process
 * @param instanceLow second half of that id
 * @param connection index of the client's connection, 0..3
 * @param takeOver whether this connection may take over the runtime from another instance
 * @param limits the limits of this side
 * @param nonce 32 random bytes
 * @param software name and version, at most 100 bytes of UTF-8
 * @param standby the priority with which this connection waits while another instance owns the runtime, 0..
 *     65,535, or {@link #NO_STANDBY}
 */
public record Hello(int minVersion, int maxVersion, long capabilities, long instanceHigh, long instanceLow,
        int connection, boolean takeOver, Limits limits, Nonce nonce, String software, int standby) {

    /** The WebSocket subprotocol (docs/protocol.md). */
    public static final String SUBPROTOCOL = "culvert.v1";
    /** The standby priority of a connection that does not wait. */
    public static final int NO_STANDBY = -1;

    /** The maximum standby priority. */
    public static final int MAX_PRIORITY = 0xffff;

    /** The version of docs/protocol.md. */
    public static final int VERSION = 1;

    /** The capability of in-band re-authentication, which both sides of this version have. */
    public static final long AUTH = 1;

    /** The capability of announcements, which both sides of this version have. */
    public static final long ANNOUNCE = 2;

    /** The capability of streams of kind {@link StreamKind#TCP}, which both sides of this version have. */
    public static final long TCP = 4;

    /**
     * From a server: TLS carried no client certificate, so AUTH is required before READY. From a client: it
     * supports AUTH before READY.
     */
    public static final long PROOF = 8;

    /** The capability of heads that are encoded by slots, which both sides of this version have. */
    public static final long SLOTS = 16;

    /** The capability of instances that wait while another one owns the runtime. */
    public static final long STANDBY = 32;

    /** The capability of names' spellings beside heads by slots, which both sides of this version have. */
    public static final long SPELLING = 64;

    /** The maximum software name in bytes of UTF-8. */
    static final int MAX_SOFTWARE = 100;

    /**
     * The limits of one side, as receiver.
     *
     * @param streams the maximum number of concurrent streams
     * @param headBytes the maximum bytes of a head, encoded and decoded
     * @param headFields the maximum number of fields of a head
     * @param hpackTableBytes the dynamic table of its HPACK decoder, 0..64 KiB
     * @param streamWindow the bytes that it accepts on a stream before a grant, 1 KiB..16 MiB
     * @param sessionWindow the bytes that it accepts on the session before a grant, 64 KiB..1 GiB
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

    /** 32 random bytes, which are never compared or printed. */
    public record Nonce(long a, long b, long c, long d) {
        /** The 32 bytes in wire order. */
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
        require(standby >= NO_STANDBY && standby <= MAX_PRIORITY, "standby priority out of range");
    }

    /** A hello of a connection that does not wait. */
    public Hello(int minVersion, int maxVersion, long capabilities, long instanceHigh, long instanceLow,
            int connection, boolean takeOver, Limits limits, Nonce nonce, String software) {
        this(minVersion, maxVersion, capabilities, instanceHigh, instanceLow, connection, takeOver, limits,
                nonce, software, NO_STANDBY);
    }

    /** The highest version in both ranges, or 0 if there is none. */
    public int commonVersion(Hello other) {
        int common = Math.min(maxVersion, other.maxVersion);
        return common >= Math.max(minVersion, other.minVersion) ? common : 0;
    }

    /** This hello with a single version, for a client's answer. */
    public Hello withVersion(int version) {
        return new Hello(version, version, capabilities, instanceHigh, instanceLow, connection, takeOver,
                limits, nonce, software, standby);
    }

    /** This hello with another {@link #standby}. */
    public Hello withStandby(int priority) {
        return new Hello(minVersion, maxVersion, capabilities, instanceHigh, instanceLow, connection,
                takeOver, limits, nonce, software, priority);
    }

    /** Whether this connection waits while another instance owns the runtime. */
    public boolean waits() {
        return standby != NO_STANDBY;
    }

    private static void require(boolean condition, String otherwise) {
        if (!condition) {
            throw ProtocolException.session(ErrorCode.PROTOCOL, otherwise);
        }
    }
}
