/** Runs handlers apart from each other: threads, limits, health. */
@NullMarked
package dev.culvert.handlers.host;

import org.jspecify.annotations.NullMarked;
