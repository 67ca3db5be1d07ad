/** Live tunnels and the requests that cross them. */
@NullMarked
package dev.culvert.server.tunnel;

import org.jspecify.annotations.NullMarked;
