/**
 * Configuration as records: {@link dev.culvert.edge.config.Setting} describes a component, {@code ConfigBinder} makes
 * a record from dotted keys. Files, environment and flags are read by the launcher.
 */
@NullMarked
package dev.culvert.edge.config;

import org.jspecify.annotations.NullMarked;
