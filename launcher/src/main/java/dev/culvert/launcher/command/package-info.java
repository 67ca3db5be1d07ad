/** The commands that start services and manage their files. */
@NullMarked
package dev.culvert.launcher.command;

import org.jspecify.annotations.NullMarked;
