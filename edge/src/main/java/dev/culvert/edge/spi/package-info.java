/**
 * What a pluggable handler sees of the edge, and all it sees: requests, responses, filters, its provider. Read
 * {@link dev.culvert.edge.spi.EdgeHandler} first, then {@link dev.culvert.edge.spi.EdgeHandlerProvider}.
 */
@NullMarked
package dev.culvert.edge.spi;

import org.jspecify.annotations.NullMarked;
