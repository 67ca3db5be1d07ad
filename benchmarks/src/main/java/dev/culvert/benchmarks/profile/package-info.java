/** Where the CPU time of a request goes: CPU-time samples of the JDK (JEP 509), by layer. */
@NullMarked
package dev.culvert.benchmarks.profile;

import org.jspecify.annotations.NullMarked;
