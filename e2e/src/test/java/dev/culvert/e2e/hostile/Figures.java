package dev.culvert.e2e.hostile;

import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentLinkedQueue;

/** What was measured while something went on. Thread-safe. */
final class Figures {
    final Samples requests = new Samples();
    final Samples webhooks = new Samples();
    /** Webhooks of the event source whose line may hold webhooks that fail. They are delivered, if later. */
    final Samples poisonedLine = new Samples();
    final Samples admin = new Samples();
    private final Queue<Disturbance> disturbances = new ConcurrentLinkedQueue<>();
    private final Queue<String> failures = new ConcurrentLinkedQueue<>();
    private final Map<String, Double> peaks = new TreeMap<>();
    private double cores;

    /** A time in which the judge itself disturbed the server, from and to in {@link System#nanoTime} values. */
    private record Disturbance(long from, long to) {
        boolean touches(Sample sample) {
            return sample.ended - from >= 0 && to - sample.began >= 0;
        }
    }

    private record Sample(long began, long ended) {
        long nanos() {
            return ended - began;
        }
    }

    /** Durations. */
    final class Samples {
        private final Queue<Sample> samples = new ConcurrentLinkedQueue<>();

        /** Something is over that began at a {@link System#nanoTime} value. */
        void add(long began) {
            samples.add(new Sample(began, System.nanoTime()));
        }

        int count() {
            return samples.size();
        }

        /** The milliseconds that 99 of 100 did not exceed, without those that the judge disturbed. */
        double p99() {
            long[] sorted = samples.stream()
                    .filter(sample -> disturbances.stream().noneMatch(one -> one.touches(sample)))
                    .mapToLong(Sample::nanos)
                    .sorted()
                    .toArray();
            return sorted.length == 0
                    ? 0
                    : sorted[(int) Math.min(sorted.length - 1, Math.floor(0.99 * sorted.length))] / 1e6;
        }
    }

    /** How many cores the server used, on average. */
    synchronized void cores(double used) {
        cores = used;
    }

    synchronized double cores() {
        return cores;
    }

    /** The judge disturbed the server from {@code began}, a {@link System#nanoTime} value, until now. */
    void disturbed(long began) {
        disturbances.add(new Disturbance(began, System.nanoTime()));
    }

    void failed(String what) {
        failures.add(what);
    }

    synchronized void peak(Map<String, Double> metrics) {
        metrics.forEach((name, value) -> peaks.merge(name, value, Math::max));
    }

    synchronized double peak(String name) {
        return peaks.getOrDefault(name, 0.0);
    }

    synchronized Map<String, Double> peaks() {
        return Map.copyOf(peaks);
    }

    /** Each kind of failure once, with its number. */
    List<String> failures() {
        Map<String, Integer> counted = new TreeMap<>();
        failures.forEach(failure -> counted.merge(failure, 1, Integer::sum));
        return counted.entrySet().stream().map(entry -> entry.getValue() + " x " + entry.getKey()).toList();
    }
}
