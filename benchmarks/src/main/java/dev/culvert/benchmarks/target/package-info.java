/**
 * The systems that are compared, each a way from the callers to one common upstream, as processes on
 * 127.0.0.1. Read {@link dev.culvert.benchmarks.target.TargetKind} first.
 */
@NullMarked
package dev.culvert.benchmarks.target;

import org.jspecify.annotations.NullMarked;
