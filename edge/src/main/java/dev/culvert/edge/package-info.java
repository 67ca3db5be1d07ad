/**
 * What every HTTP-speaking part shares: problems, the handler server, health, metrics, drain. Read {@link
 * dev.culvert.edge.Problem} first, then {@code EdgeServer}.
 */
@NullMarked
package dev.culvert.edge;

import org.jspecify.annotations.NullMarked;
