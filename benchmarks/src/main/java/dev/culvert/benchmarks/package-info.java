/**
 * The load harness: {@code culvert bench}. Runs other programs and Culvert's parts as processes of their own and reads what
 * they cost from /proc, so it measures on Linux only. Read {@link dev.culvert.benchmarks.CompareCommand} first. Nobody
 * depends on this module.
 */
@NullMarked
package dev.culvert.benchmarks;

import org.jspecify.annotations.NullMarked;
