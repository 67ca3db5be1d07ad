package dev.culvert.platform.directory.wrapping;

/** A key that wraps secrets can't be used. The message is for operators and names no secret. */
public final class WrappingException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final Kind kind;

    /** What is wrong. */
    public enum Kind {
        /** The keys are not there at all. */
        ABSENT,
        /** The key that wrapped this secret is none of those that are there. */
        UNKNOWN_KEY,
        /** The keys are there but can't be used, or the secret was changed. */
        UNUSABLE
    }

    public WrappingException(Kind kind, String message) {
        super(message, null, false, false);
        this.kind = kind;
    }

    public Kind kind() {
        return kind;
    }
}
