package dev.culvert.launcher.demo;

/** The demo, or one of its checks, can't go on; the message is for its user. Carries no stack trace. */
public final class DemoException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    DemoException(String message) {
        super(message, null, false, false);
    }
}
