/**
 * Pushes of images and charts, as registries send them.
 */
@NullMarked
package dev.culvert.platform.triggers.registry;

import org.jspecify.annotations.NullMarked;
