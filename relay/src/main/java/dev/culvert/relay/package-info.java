/** The byte plane: forwards requests and responses without interpreting their content. */
@NullMarked
package dev.culvert.relay;

import org.jspecify.annotations.NullMarked;
