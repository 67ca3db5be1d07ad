/**
 * Secrets that are stored wrapped, by keys that are kept elsewhere. Start with {@link
 * dev.culvert.platform.directory.wrapping.KeyWrapping}.
 */
@NullMarked
package dev.culvert.platform.directory.wrapping;

import org.jspecify.annotations.NullMarked;
