/** Routes requests to upstreams inside a cluster. The router serves it, the tunnel client embeds it. */
@NullMarked
package dev.culvert.routing;

import org.jspecify.annotations.NullMarked;
