package dev.culvert.server.page;

/** The state of a runtime as pages show it, the worst last. */
public enum RuntimeState {
    /** It has an upstream beside the platform, and no tunnel. */
    HOSTED("hosted", "good"),
    /** A session carries its tunnel. */
    CONNECTED("connected", "good"),
    /** No client has connected yet. */
    NEW("never connected", ""),
    /** The tunnel was lost a short time ago. */
    RECONNECTING("reconnecting", "warn"),
    /** The tunnel is gone. */
    DISCONNECTED("disconnected", "bad");

    private final String word;
    private final String tone;

    RuntimeState(String word, String tone) {
        this.word = word;
        this.tone = tone;
    }

    public String word() {
        return word;
    }

    /** The class of its style: {@code good}, {@code warn}, {@code bad} or empty. */
    public String tone() {
        return tone;
    }
}
