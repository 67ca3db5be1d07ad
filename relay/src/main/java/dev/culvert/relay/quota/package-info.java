/** The limits of runtimes, and the memory budget. */
@NullMarked
package dev.culvert.relay.quota;

import org.jspecify.annotations.NullMarked;
