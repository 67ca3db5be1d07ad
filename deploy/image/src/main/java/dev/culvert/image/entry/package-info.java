/** What the image starts: it becomes the JVM of the part that is asked for. Uses the JDK alone. */
@NullMarked
package dev.culvert.image.entry;

import org.jspecify.annotations.NullMarked;
