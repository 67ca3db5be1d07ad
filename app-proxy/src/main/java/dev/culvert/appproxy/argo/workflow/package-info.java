/** Argo Workflows. */
@NullMarked
package dev.culvert.appproxy.argo.workflow;

import org.jspecify.annotations.NullMarked;
