package dev.culvert.http.observe;

/** What either end of a tunnel shows of itself, for {@link Telemetry#tunnels}. Asked on any thread. */
public interface TunnelFigures {
    /** Tunnels with a session. */
    int connected();

    /** Streams open in all sessions. */
    long streams();

    /** Bytes queued to send, and bytes received that no reader has taken yet. */
    long bufferedBytes();

    /** Bytes of frames received since the start. */
    long receivedBytes();

    /** Bytes of frames sent since the start. */
    long sentBytes();

    /** Sessions that ended because direct memory could not be had for them, since the start. */
    long refusedMemory();

    /** The last round trip in seconds; 0 before the first. */
    double rttSeconds();
}
