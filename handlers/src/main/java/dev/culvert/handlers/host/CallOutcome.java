package dev.culvert.handlers.host;

import java.util.Locale;

/** How a call of a handler ended. */
enum CallOutcome {
    /** With a response that is no fault of the gateway's. */
    ANSWERED,
    /** With an error that the handler meant for its caller. */
    REFUSED,
    /** With an error that nobody meant, or a body that broke off. */
    FAILED, TIMED_OUT,
    /** Its caller left. */
    CANCELLED;

    /** The word in metrics. */
    String word() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
