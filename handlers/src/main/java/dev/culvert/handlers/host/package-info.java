/** Runs handlers in isolation from each other, with separate threads, limits and health. */
@NullMarked
package dev.culvert.handlers.host;

import org.jspecify.annotations.NullMarked;
