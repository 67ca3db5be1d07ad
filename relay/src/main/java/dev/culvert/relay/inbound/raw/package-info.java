/** Callers that speak TLS to a runtime, and nothing that the gateway knows inside. */
@NullMarked
package dev.culvert.relay.inbound.raw;

import org.jspecify.annotations.NullMarked;
