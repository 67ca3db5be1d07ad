/** {@code culvert cache}: makes the AOT caches of an installation by starting its parts for a moment. */
@NullMarked
package dev.culvert.launcher.cache;

import org.jspecify.annotations.NullMarked;
