/** The listener for callers, which chooses between HTTP/1.1 and HTTP/2. */
@NullMarked
package dev.culvert.relay.inbound;

import org.jspecify.annotations.NullMarked;
