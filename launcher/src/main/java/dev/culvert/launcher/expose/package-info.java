/** {@code culvert connect} and {@code culvert http}: a person at a terminal exposes one local service. */
@NullMarked
package dev.culvert.launcher.expose;

import org.jspecify.annotations.NullMarked;
