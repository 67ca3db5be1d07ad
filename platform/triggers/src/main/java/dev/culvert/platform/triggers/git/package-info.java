/**
 * Pushes, tags and pull requests, as the providers of Git send them.
 */
@NullMarked
package dev.culvert.platform.triggers.git;

import org.jspecify.annotations.NullMarked;
