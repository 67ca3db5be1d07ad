/** Listeners: accepting, PROXY protocol, fair TLS handshakes. */
@NullMarked
package dev.culvert.relay.listen;

import org.jspecify.annotations.NullMarked;
