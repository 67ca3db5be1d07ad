/** Routes requests to upstreams inside a cluster. The request router and the tunnel client use it. */
@NullMarked
package dev.culvert.routing;

import org.jspecify.annotations.NullMarked;
