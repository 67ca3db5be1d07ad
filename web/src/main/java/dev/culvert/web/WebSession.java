package dev.culvert.web;

import java.time.Instant;

/** The session of a log-in. Thread-safe. */
public final class WebSession {
    private final WebUser user;
    private final String csrfToken;
    private final Instant created;
    private volatile Instant used;
    private volatile boolean ended;
    private String said = "";

    WebSession(WebUser user, String csrfToken, Instant created) {
        this.user = user;
        this.csrfToken = csrfToken;
        this.created = created;
        this.used = created;
    }

    public WebUser user() {
        return user;
    }

    /** The value that each form of this session's pages must contain. */
    public String csrfToken() {
        return csrfToken;
    }

    /** Keeps what an action did, until the next page shows it. */
    synchronized void say(String text) {
        said = text;
    }

    /** Returns what the last action did, once; otherwise an empty text. */
    synchronized String takeSaid() {
        String text = said;
        said = "";
        return text;
    }

    Instant created() {
        return created;
    }

    Instant used() {
        return used;
    }

    void use(Instant now) {
        used = now;
    }

    void end() {
        ended = true;
    }

    boolean isEnded() {
        return ended;
    }
}
