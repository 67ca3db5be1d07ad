package dev.culvert.handlers.host;

import java.util.Locale;

/** The outcome of a call of a handler. */
enum CallOutcome {
    /** With a response that is not an error of the gateway. */
    ANSWERED,
    /** With an error that the handler intended for the caller. */
    REFUSED,
    /** With an unexpected error or a truncated body. */
    FAILED, TIMED_OUT,
    /** The caller disconnected. */
    CANCELLED;

    /** The word in metrics. */
    String word() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
