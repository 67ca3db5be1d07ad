/** Calls to Kubernetes and Argo API servers. */
@NullMarked
package dev.culvert.appproxy.argo.api;

import org.jspecify.annotations.NullMarked;
