/** Connections of callers over HTTP/1.1 (RFC 9112). */
@NullMarked
package dev.culvert.relay.inbound.http1;

import org.jspecify.annotations.NullMarked;
