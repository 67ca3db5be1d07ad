/** A client of the tunnel server's admin API, {@link dev.culvert.launcher.admin.AdminClient}: for the commands and the demo. */
@NullMarked
package dev.culvert.launcher.admin;

import org.jspecify.annotations.NullMarked;
