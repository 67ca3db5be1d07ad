/**
 * Git tokens of users and of the runtime. They never leave the cluster, and are encrypted at rest in a file
 * or a Kubernetes secret. Start with {@link dev.culvert.appproxy.credentials.GitTokens}.
 */
@NullMarked
package dev.culvert.appproxy.credentials;

import org.jspecify.annotations.NullMarked;
