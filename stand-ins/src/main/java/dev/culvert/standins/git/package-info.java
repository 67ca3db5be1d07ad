/**
 * Stand-ins of Git providers for tests and the demo: HTTP servers with the real paths, paging, fields and
 * errors of their REST APIs, and Git's smart HTTP, over real bare repositories. They block their own virtual
 * threads. Start with {@link dev.culvert.standins.git.GitProviderServer}.
 */
@NullMarked
package dev.culvert.standins.git;

import org.jspecify.annotations.NullMarked;
