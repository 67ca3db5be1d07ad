package dev.culvert.protocol.frame;

import org.jspecify.annotations.Nullable;

/** The content of a stream (docs/protocol.md §5). */
public enum StreamKind {
    HTTP(0), UPGRADE(1), TCP(2);

    private final int number;

    StreamKind(int number) {
        this.number = number;
    }

    /** The byte on the wire. */
    public int number() {
        return number;
    }

    static @Nullable StreamKind of(int number) {
        return switch (number) {
            case 0 -> HTTP;
            case 1 -> UPGRADE;
            case 2 -> TCP;
            default -> null;
        };
    }
}
