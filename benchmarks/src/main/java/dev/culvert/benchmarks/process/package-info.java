/**
 * Child processes of the load harness, and their usage from /proc. Read {@link
 * dev.culvert.benchmarks.process.Program} first.
 */
@NullMarked
package dev.culvert.benchmarks.process;

import org.jspecify.annotations.NullMarked;
