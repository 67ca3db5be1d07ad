@NullMarked
package dev.culvert.benchmarks;

import org.jspecify.annotations.NullMarked;
