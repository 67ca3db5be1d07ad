/**
 * Typed configuration: records bound from files, environment and arguments. One exception reports all errors.
 */
@NullMarked
package dev.culvert.config;

import org.jspecify.annotations.NullMarked;
