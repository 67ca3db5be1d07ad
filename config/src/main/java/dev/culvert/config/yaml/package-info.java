/** YAML files as trees of values with their line numbers. */
@NullMarked
package dev.culvert.config.yaml;

import org.jspecify.annotations.NullMarked;
