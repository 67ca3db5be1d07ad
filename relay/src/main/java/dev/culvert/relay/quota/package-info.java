/** Limits of runtimes and the memory budget: what may be held, for whom, at which rate. */
@NullMarked
package dev.culvert.relay.quota;

import org.jspecify.annotations.NullMarked;
