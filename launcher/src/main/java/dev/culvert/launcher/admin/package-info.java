/**
 * The commands of the tunnel server's admin API and their client {@link
 * dev.culvert.launcher.admin.AdminClient}, which the demo uses too.
 */
@NullMarked
package dev.culvert.launcher.admin;

import org.jspecify.annotations.NullMarked;
