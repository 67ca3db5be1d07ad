/** Runs a service: configuration, reload, signals, exit codes. */
@NullMarked
package dev.culvert.launcher.run;

import org.jspecify.annotations.NullMarked;
