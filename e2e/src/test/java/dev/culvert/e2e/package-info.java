/** Tests that start several parts. */
@NullMarked
package dev.culvert.e2e;

import org.jspecify.annotations.NullMarked;
