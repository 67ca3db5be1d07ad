/** The properties of upstreams: addresses, endpoints, trust, failures. */
@NullMarked
package dev.culvert.relay.upstream;

import org.jspecify.annotations.NullMarked;
