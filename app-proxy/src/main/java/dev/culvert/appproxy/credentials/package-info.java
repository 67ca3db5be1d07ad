/**
 * Git tokens, which never leave the cluster: those of users and that of the runtime, encrypted at rest in a file or a
 * Kubernetes secret. Start with {@link dev.culvert.appproxy.credentials.GitTokens}.
 */
@NullMarked
package dev.culvert.appproxy.credentials;

import org.jspecify.annotations.NullMarked;
