/**
 * Callers' connections: HTTP/1.1 and HTTP/2 in, exchanges with runtimes out. Raw Netty handlers; everything of a connection
 * happens on its event loop.
 */
@NullMarked
package dev.culvert.edge.caller;

import org.jspecify.annotations.NullMarked;
