/**
 * The load harness: {@code culvert bench}. Runs other programs and Culvert's services as separate processes
 * and reads their CPU time from /proc, so it measures only on Linux. Read {@link
 * dev.culvert.benchmarks.CompareCommand} first. No other module depends on this one.
 */
@NullMarked
package dev.culvert.benchmarks;

import org.jspecify.annotations.NullMarked;
