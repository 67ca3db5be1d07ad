/** YAML files as trees of values that know their line. */
@NullMarked
package dev.culvert.config.yaml;

import org.jspecify.annotations.NullMarked;
