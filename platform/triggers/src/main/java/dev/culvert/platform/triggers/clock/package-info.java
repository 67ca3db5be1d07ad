/**
 * What a clock starts.
 */
@NullMarked
package dev.culvert.platform.triggers.clock;

import org.jspecify.annotations.NullMarked;
