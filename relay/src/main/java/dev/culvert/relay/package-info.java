/** The byte plane: requests and responses that are passed on, not understood. */
@NullMarked
package dev.culvert.relay;

import org.jspecify.annotations.NullMarked;
