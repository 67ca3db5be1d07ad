/**
 * State changes of Argo Workflows, Argo Rollouts and Argo CD applications, and their logs and events as streams: through
 * Argo's own APIs where one is configured, else by changing the custom resources. Read
 * {@link dev.culvert.appproxy.argo.WorkflowsHandler} first.
 */
@NullMarked
package dev.culvert.appproxy.argo;

import org.jspecify.annotations.NullMarked;
