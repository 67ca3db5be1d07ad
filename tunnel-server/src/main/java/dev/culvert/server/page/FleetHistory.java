package dev.culvert.server.page;

import dev.culvert.http.observe.TunnelFigures;
import java.util.ArrayDeque;
import java.util.function.ToDoubleFunction;

/** The figures of all tunnels in the last ten minutes, for sparklines. Bounded. Thread-safe. */
final class FleetHistory {
    static final int SAMPLES = 120;
    private static final double NANOS = 1e9;

    private final TunnelFigures figures;
    private final ArrayDeque<Sample> samples = new ArrayDeque<>();
    private long nanos = System.nanoTime();
    private long received;
    private long sent;

    FleetHistory(TunnelFigures figures) {
        this.figures = figures;
        this.received = figures.receivedBytes();
        this.sent = figures.sentBytes();
    }

    /** The figures at one time. */
    record Sample(int tunnels, long streams, double receivedPerSecond, double sentPerSecond,
            double rttSeconds) {}

    synchronized void sample() {
        long now = System.nanoTime();
        double seconds = Math.max(1, now - nanos) / NANOS;
        long in = figures.receivedBytes();
        long out = figures.sentBytes();
        samples.add(new Sample(figures.connected(), figures.streams(), (in - received) / seconds,
                (out - sent) / seconds, figures.rttSeconds()));
        if (samples.size() > SAMPLES) {
            samples.remove();
        }
        nanos = now;
        received = in;
        sent = out;
    }

    /** One figure over time, the oldest first. */
    synchronized double[] values(ToDoubleFunction<Sample> of) {
        return samples.stream().mapToDouble(of).toArray();
    }

    /** The last sample. */
    synchronized Sample last() {
        Sample last = samples.peekLast();
        return last == null
                ? new Sample(figures.connected(), figures.streams(), 0, 0, figures.rttSeconds())
                : last;
    }
}
