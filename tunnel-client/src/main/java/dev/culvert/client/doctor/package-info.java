/** Checks before the first connection. */
@NullMarked
package dev.culvert.client.doctor;

import org.jspecify.annotations.NullMarked;
