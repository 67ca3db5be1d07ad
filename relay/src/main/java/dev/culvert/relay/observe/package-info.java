/** Requests that have ended, kept for a bounded time for operators who look at them. */
@NullMarked
package dev.culvert.relay.observe;

import org.jspecify.annotations.NullMarked;
