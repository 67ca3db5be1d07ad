package dev.culvert.benchmarks.result;

/**
 * One measured time of one target under one load.
 *
 * @param scenario the name of the load
 * @param target the name of the target, such as "nginx2"
 * @param callers the exchanges under way at once, or the most in an open loop
 * @param rate arrivals a second; 0: a closed loop
 * @param start which start of the target's processes, from 1
 * @param round which round within the start, from 1
 */
public record Cell(String scenario, String target, int callers, double rate, int start, int round,
        LoadFigures load, Usage usage) {
    /** CPU time of the target for each exchange, in microseconds, without the JVM's compilers. */
    public double cpuPerRequest() {
        return (double) (usage.cpuMicros() - usage.jitMicros()) / Math.max(1, load.requests());
    }

    /** CPU time of the target for each MiB of bodies, in microseconds, without the JVM's compilers. */
    public double cpuPerMib() {
        return (usage.cpuMicros() - usage.jitMicros()) * (double) (1 << 20) / Math.max(1, load.bytes());
    }
}
