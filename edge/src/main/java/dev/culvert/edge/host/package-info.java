/**
 * The host of a part's handlers: makes them, keeps each one to its limits and its own threads, and tells which of them fails.
 * Start with {@link dev.culvert.edge.host.HandlerHost}.
 */
@NullMarked
package dev.culvert.edge.host;

import org.jspecify.annotations.NullMarked;
