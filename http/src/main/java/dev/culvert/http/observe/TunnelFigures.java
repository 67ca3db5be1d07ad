package dev.culvert.http.observe;

/** Figures that either end of a tunnel gives to {@link Telemetry#tunnels}. Called on any thread. */
public interface TunnelFigures {
    /** Tunnels with a session. */
    int connected();

    /** Sessions that wait while another instance owns their runtime. */
    int waiting();

    /** Instances that waited and became the owner, since the start. */
    long promotions();

    /** Instances that were promoted and did not answer in time, since the start. */
    long unansweredPromotions();

    /** Streams open in all sessions. */
    long streams();

    /** Bytes queued to send, and bytes received that no reader has taken yet. */
    long bufferedBytes();

    /** Bytes of frames received since the start. */
    long receivedBytes();

    /** Bytes of frames sent since the start. */
    long sentBytes();

    /** Sessions since the start that ended because direct memory could not be allocated for them. */
    long refusedMemory();

    /** The last round trip in seconds; 0 before the first. */
    double rttSeconds();
}
