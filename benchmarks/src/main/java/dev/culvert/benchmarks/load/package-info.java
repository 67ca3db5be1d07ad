/**
 * The load generator: callers of every kind, in a closed loop or at a fixed rate of arrivals. Read {@link
 * dev.culvert.benchmarks.load.LoadRun} first.
 */
@NullMarked
package dev.culvert.benchmarks.load;

import org.jspecify.annotations.NullMarked;
