package dev.culvert.relay.inbound.raw;

import dev.culvert.http.problem.Problem;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import org.jspecify.annotations.Nullable;

/** What a caller is told whose handshake can't be passed on: a fatal alert in the clear, as the handshake has no keys yet. */
enum TlsAlert {
    /** RFC 6066 §3: nobody here has that name. */
    UNRECOGNIZED_NAME(112),
    /** The cluster refuses it. */
    ACCESS_DENIED(49),
    /** It may go well another time. */
    INTERNAL_ERROR(80);

    private static final int ALERT = 21;
    private static final int FATAL = 2;
    /** What a record says before there is a version (RFC 8446 §5.1). */
    private static final int TLS_1_2 = 0x0303;

    private final int number;

    TlsAlert(int number) {
        this.number = number;
    }

    /** What says this problem; null: nothing, as the peer may speak no TLS at all. */
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

    /** The record. */
    ByteBuf record() {
        return Unpooled.buffer(7)
                .writeByte(ALERT)
                .writeShort(TLS_1_2)
                .writeShort(2)
                .writeByte(FATAL)
                .writeByte(number);
    }
}
