/**
 * Configuration as records: {@link dev.culvert.edge.config.Setting} describes a component,
 * {@link dev.culvert.edge.config.ConfigBinder} makes records from what files, environment and flags say, with the
 * origin of each value. Files are read by the launcher. Read {@code ConfigBinder} first.
 */
@NullMarked
package dev.culvert.edge.config;

import org.jspecify.annotations.NullMarked;
