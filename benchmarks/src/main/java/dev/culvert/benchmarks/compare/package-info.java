/**
 * The comparison of targets by a scenario file: starts, rounds and turns, and the tables and warnings that
 * follow from them. Read {@link dev.culvert.benchmarks.compare.Comparison} first.
 */
@NullMarked
package dev.culvert.benchmarks.compare;

import org.jspecify.annotations.NullMarked;
