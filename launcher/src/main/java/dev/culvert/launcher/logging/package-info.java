/** Log lines as text and as JSON. */
@NullMarked
package dev.culvert.launcher.logging;

import org.jspecify.annotations.NullMarked;
