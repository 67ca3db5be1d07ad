package dev.culvert.launcher.demo;

/**
 * Reports that the demo or one of its checks can't continue. The message is for the user. Carries no stack
 * trace.
 */
public final class DemoException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    DemoException(String message) {
        super(message, null, false, false);
    }
}
