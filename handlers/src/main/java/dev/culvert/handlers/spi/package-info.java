/**
 * What a pluggable handler sees of the edge, and all it sees: requests, responses, filters, its provider. Read
 * {@link dev.culvert.handlers.spi.EdgeHandler} first, then {@link dev.culvert.handlers.spi.EdgeHandlerProvider}.
 */
@NullMarked
package dev.culvert.handlers.spi;

import org.jspecify.annotations.NullMarked;
