package dev.culvert.benchmarks.result;

/**
 * What the measured processes of a target used in the measured time.
 *
 * @param cpuMicros CPU time of all threads, in microseconds
 * @param jitMicros of it the JVM's compilers
 * @param gcMicros of it the JVM's collectors
 * @param contextSwitches of all threads
 * @param rssBytes the resident memory of all processes at the end
 */
public record Usage(long cpuMicros, long jitMicros, long gcMicros, long contextSwitches, long rssBytes) {}
