/** Raw connections: callers that speak TLS to a runtime. The gateway forwards the encrypted bytes. */
@NullMarked
package dev.culvert.relay.inbound.raw;

import org.jspecify.annotations.NullMarked;
