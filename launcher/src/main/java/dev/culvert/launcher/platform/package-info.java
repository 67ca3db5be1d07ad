/** The commands that ask a control plane. */
@NullMarked
package dev.culvert.launcher.platform;

import org.jspecify.annotations.NullMarked;
