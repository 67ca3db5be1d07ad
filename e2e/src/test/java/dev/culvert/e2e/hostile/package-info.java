/**
 * Peers that break the rules or the patience of a running server, and what an honest tenant notices of them: one
 * {@link dev.culvert.e2e.hostile.Scenario} for each finding. {@code HostileIT} runs them; read it first.
 */
@NullMarked
package dev.culvert.e2e.hostile;

import org.jspecify.annotations.NullMarked;
