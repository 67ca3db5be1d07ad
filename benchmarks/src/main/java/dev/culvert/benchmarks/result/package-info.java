/** What a measurement found, as it stands in a result file, and the tables and pages made of it. */
@NullMarked
package dev.culvert.benchmarks.result;

import org.jspecify.annotations.NullMarked;
