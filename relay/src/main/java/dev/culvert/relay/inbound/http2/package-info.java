/** Connections of callers over HTTP/2 (RFC 9113). */
@NullMarked
package dev.culvert.relay.inbound.http2;

import org.jspecify.annotations.NullMarked;
