package dev.culvert.protocol.frame;

/** The reason why a stream was reset or a session ends (docs/protocol.md §10). */
public enum ErrorCode {
    NO_ERROR(0), PROTOCOL(1), INTERNAL(2), FLOW_CONTROL(3), FRAME_SIZE(4), COMPRESSION(5), HEAD_TOO_LARGE(
            6), UNSUPPORTED(7), CANCELLED(8), REFUSED(9), OVERLOADED(
                    10), FAILED(11), TIMEOUT(12), UNAUTHORIZED(13), CONFLICT(14), DRAINING(15), REPLACED(16);

    private static final ErrorCode[] BY_NUMBER = values();

    private final int number;

    ErrorCode(int number) {
        this.number = number;
    }

    /** The number on the wire. */
    public int number() {
        return number;
    }

    /** The code of a number; INTERNAL for an unknown number. */
    public static ErrorCode of(int number) {
        return number < BY_NUMBER.length ? BY_NUMBER[number] : INTERNAL;
    }
}
