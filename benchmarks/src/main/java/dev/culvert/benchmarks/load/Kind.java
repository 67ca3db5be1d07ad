package dev.culvert.benchmarks.load;

/** What an exchange is. */
public enum Kind {
    /** A GET; the body of the response is read. */
    GET,
    /** A POST of a body; the body of the response is read. */
    UPLOAD,
    /** A POST of a webhook, stored before it is answered. */
    WEBHOOK,
    /** A message on a WebSocket, and its echo. */
    WEBSOCKET,
    /** An event of an event stream: its latency is from when the upstream wrote it. */
    EVENTS,
    /** A GET whose response is not read beyond its beginning. It never ends: it only burdens others. */
    STALLED;

    /** Whether callers send a body or a message. */
    public boolean sends() {
        return this == UPLOAD || this == WEBHOOK || this == WEBSOCKET;
    }
}
