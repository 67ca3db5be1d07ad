package dev.culvert.server.runtime;

/**
 * A name or host that breaks the rules for names. Carries no stack trace: it reports invalid input, not a
 * bug.
 */
public final class InvalidNameException extends IllegalArgumentException {
    private static final long serialVersionUID = 1L;

    private final String field;

    /**
     * @param field the input that is wrong: {@code account}, {@code name}, {@code hosts}
     * @param detail the value, and what was expected
     */
    public InvalidNameException(String field, String detail) {
        super(field + ": " + detail);
        this.field = field;
    }

    public String field() {
        return field;
    }

    @Override
    public synchronized Throwable fillInStackTrace() {
        return this;
    }
}
