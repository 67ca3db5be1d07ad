package dev.culvert.protocol.frame;

/**
 * Reports that the peer violated docs/protocol.md. Stream id 0 means that the session must end; otherwise
 * only that stream is reset. Expected in operation, so it carries no stack trace.
 */
public final class ProtocolException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final ErrorCode code;
    private final int streamId;

    private ProtocolException(ErrorCode code, int streamId, String detail) {
        super(detail, null, false, false);
        this.code = code;
        this.streamId = streamId;
    }

    /** An error that ends the session. */
    public static ProtocolException session(ErrorCode code, String detail) {
        return new ProtocolException(code, 0, detail);
    }

    /** An error that resets one stream. */
    public static ProtocolException stream(int streamId, ErrorCode code, String detail) {
        return new ProtocolException(code, streamId, detail);
    }

    public ErrorCode code() {
        return code;
    }

    /** The stream to reset, or 0 if the session must end. */
    public int streamId() {
        return streamId;
    }

    @Override
    public String getMessage() {
        return code + ": " + super.getMessage();
    }
}
