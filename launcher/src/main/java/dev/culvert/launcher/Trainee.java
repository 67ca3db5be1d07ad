package dev.culvert.launcher;

import java.io.IOException;

/**
 * Runs a command that {@code culvert cache} has started, to make an AOT cache. Ends with the process that
 * started it, however that one ended: its standard input ends then.
 */
public final class Trainee {
    private Trainee() {}

    /** Runs the command of the arguments, as {@link Main} does. */
    public static void main(String[] args) {
        endWithParent();
        Main.main(args);
    }

    static void endWithParent() {
        Thread.ofPlatform().daemon().name("parent").start(Trainee::await);
    }

    private static void await() {
        try {
            while (System.in.read() >= 0) {
                // nothing is sent
            }
        } catch (IOException e) {
            // as its end
        }
        Runtime.getRuntime().halt(1);
    }
}
