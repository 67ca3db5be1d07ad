/**
 * Argo's servers for tests and the demo: their REST paths in front of a Kubernetes API server that only
 * stores objects. Read {@link dev.culvert.standins.argo.ClusterStandIn} first.
 */
@NullMarked
package dev.culvert.standins.argo;

import org.jspecify.annotations.NullMarked;
