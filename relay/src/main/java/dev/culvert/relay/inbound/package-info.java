/** The listener for callers, which selects HTTP/1.1 or HTTP/2. */
@NullMarked
package dev.culvert.relay.inbound;

import org.jspecify.annotations.NullMarked;
