/**
 * The module of runtimes: their life as the public API has it, and what the tunnel server must know of them.
 */
@NullMarked
package dev.culvert.platform.runtimes;

import org.jspecify.annotations.NullMarked;
