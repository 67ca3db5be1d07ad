/**
 * The complete API of the edge for a pluggable handler: requests, responses, filters, and its provider. Read
 * {@link dev.culvert.handlers.spi.EdgeHandler} first, then {@link
 * dev.culvert.handlers.spi.EdgeHandlerProvider}.
 */
@NullMarked
package dev.culvert.handlers.spi;

import org.jspecify.annotations.NullMarked;
