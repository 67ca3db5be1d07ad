/** Listeners: accepting connections, the PROXY protocol, and fair TLS handshakes. */
@NullMarked
package dev.culvert.relay.listen;

import org.jspecify.annotations.NullMarked;
