/**
 * What TLS negotiates on the links of a part: its callers', its tunnel's, its upstreams'. Start with {@link
 * dev.culvert.relay.tls.TlsLink}.
 */
@NullMarked
package dev.culvert.relay.tls;

import org.jspecify.annotations.NullMarked;
