/**
 * Where a part's configuration comes from: {@link dev.culvert.launcher.config.YamlFile} reads a file into nodes with
 * line numbers, {@link dev.culvert.launcher.config.PartConfig} adds environment and flags and binds it all.
 */
@NullMarked
package dev.culvert.launcher.config;

import org.jspecify.annotations.NullMarked;
