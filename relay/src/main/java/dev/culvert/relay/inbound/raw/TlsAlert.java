package dev.culvert.relay.inbound.raw;

import dev.culvert.http.problem.Problem;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import org.jspecify.annotations.Nullable;

/**
 * The fatal alerts sent to a caller whose handshake cannot be forwarded. They are not encrypted, because the
 * handshake has no keys yet.
 */
enum TlsAlert {
    /** No runtime has the server name (RFC 6066 §3). */
    UNRECOGNIZED_NAME(112),
    /** The cluster refuses the connection. */
    ACCESS_DENIED(49),
    /** A temporary failure; a later attempt may succeed. */
    INTERNAL_ERROR(80);

    private static final int ALERT = 21;
    private static final int FATAL = 2;
    /** The version in a record before one is negotiated (RFC 8446 §5.1). */
    private static final int TLS_1_2 = 0x0303;

    private final int number;

    TlsAlert(int number) {
        this.number = number;
    }

    /** Returns the alert for a problem; null: none, because the peer may not speak TLS at all. */
    static @Nullable TlsAlert of(Problem problem) {
        return switch (problem.cause()) {
            case UNKNOWN_HOST -> UNRECOGNIZED_NAME;
            case BAD_REQUEST, HEAD_TOO_LARGE, REQUEST_TIMEOUT -> problem.hop() == Problem.Hop.EDGE
                    ? null
                    : INTERNAL_ERROR;
            case NOT_ALLOWED, NO_ROUTE, UNAUTHORIZED -> ACCESS_DENIED;
            default -> INTERNAL_ERROR;
        };
    }

    /** Returns the TLS record of the alert. The caller owns the buffer. */
    ByteBuf record() {
        return Unpooled.buffer(7)
                .writeByte(ALERT)
                .writeShort(TLS_1_2)
                .writeShort(2)
                .writeByte(FATAL)
                .writeByte(number);
    }
}
