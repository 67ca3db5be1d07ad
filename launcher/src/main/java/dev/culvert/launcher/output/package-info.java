/**
 * What commands print: {@link dev.culvert.launcher.output.Output} is the format, {@link
 * dev.culvert.launcher.output.Terminal} says what the terminal can show.
 */
@NullMarked
package dev.culvert.launcher.output;

import org.jspecify.annotations.NullMarked;
