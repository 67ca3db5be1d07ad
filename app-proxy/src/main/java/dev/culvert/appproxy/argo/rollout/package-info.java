/** Argo Rollouts. */
@NullMarked
package dev.culvert.appproxy.argo.rollout;

import org.jspecify.annotations.NullMarked;
