/** Typed configuration: records bound from files, environment and arguments, with all mistakes in one error. */
@NullMarked
package dev.culvert.config;

import org.jspecify.annotations.NullMarked;
