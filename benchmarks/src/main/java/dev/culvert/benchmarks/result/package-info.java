/**
 * What a measurement found, as it stands in a result file, and the tables and pages made of it. Read {@link
 * dev.culvert.benchmarks.result.BenchResult} first, then {@link dev.culvert.benchmarks.result.Comparison}.
 */
@NullMarked
package dev.culvert.benchmarks.result;

import org.jspecify.annotations.NullMarked;
