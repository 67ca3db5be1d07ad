/** Repositories that commits are made in: mirrors, remotes, refs. */
@NullMarked
package dev.culvert.appproxy.commits.git;

import org.jspecify.annotations.NullMarked;
