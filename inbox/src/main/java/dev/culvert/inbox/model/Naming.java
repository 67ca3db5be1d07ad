package dev.culvert.inbox.model;

import java.time.Duration;

/** What is known of an event source's name in the cluster. The numbers are stored. */
public enum Naming {
    /** No attempt has shown anything, or the last one not enough. */
    UNCLEAR(0),
    /** The cluster's DNS answered that there is no such name. */
    NAMELESS(1),
    /** The event source has answered. Final. */
    RESOLVED(2);

    /** The minimum time without a name after which a source gives way to others. */
    public static final Duration PATIENCE = Duration.ofMinutes(10);

    public final int number;

    Naming(int number) {
        this.number = number;
    }

    /** Returns the value with a stored number. */
    public static Naming at(int number) {
        for (Naming naming : values()) {
            if (naming.number == number) {
                return naming;
            }
        }
        throw new IllegalArgumentException("naming: " + number + " (expected: 0..2)");
    }
}
