/** Hosts that lead to an upstream in place of a tunnel. Read {@link DirectHosts} first. */
@NullMarked
package dev.culvert.server.direct;

import org.jspecify.annotations.NullMarked;
