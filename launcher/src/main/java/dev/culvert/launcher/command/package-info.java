/** The commands that start parts and look after their files. */
@NullMarked
package dev.culvert.launcher.command;

import org.jspecify.annotations.NullMarked;
