package dev.culvert.launcher.follow;

import org.jspecify.annotations.Nullable;

/** Puts the lines of server-sent events (HTML Standard §9.2) together. Belongs to one thread. */
final class EventReader {
    private String kind = "";
    private String data = "";
    private String id = "";
    private String lastId = "";

    /** Reads a line. Returns the event that it completes, or null. */
    @Nullable
    StreamEvent read(String line) {
        if (line.isEmpty()) {
            return complete();
        }
        int colon = line.indexOf(':');
        String field = colon < 0 ? line : line.substring(0, colon);
        String value = colon < 0 ? "" : line.substring(colon + (line.startsWith(" ", colon + 1) ? 2 : 1));
        switch (field) {
            case "event" -> kind = value;
            case "data" -> data = data.isEmpty() ? value : data + "\n" + value;
            case "id" -> id = value;
            default -> {
                // a comment, which shows that the stream is alive, or a field of a later version
            }
        }
        return null;
    }

    private @Nullable StreamEvent complete() {
        StreamEvent event = data.isEmpty() ? null : new StreamEvent(kind, data);
        if (event != null && !id.isEmpty()) {
            lastId = id;
        }
        kind = "";
        data = "";
        id = "";
        return event;
    }

    /** Forgets an event that was cut off with its connection. */
    void begin() {
        kind = "";
        data = "";
        id = "";
    }

    /** The id of the last event that has one; empty: none had. */
    String lastId() {
        return lastId;
    }
}
