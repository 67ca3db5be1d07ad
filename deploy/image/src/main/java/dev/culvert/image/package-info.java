/**
 * Writes a container image in OCI's format, without an engine. Begin with {@link
 * dev.culvert.image.ImageBuild}.
 */
@NullMarked
package dev.culvert.image;

import org.jspecify.annotations.NullMarked;
