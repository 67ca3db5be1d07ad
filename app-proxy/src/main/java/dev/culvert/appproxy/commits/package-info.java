/**
 * Commits without a work tree: files are written to, read from and deleted on branches of Git repositories,
 * in the caller's name; the shared configuration repository and its Git Sources are such files. Start with
 * {@code CommitJob}, then read {@code Remote} for the destination of a commit.
 */
@NullMarked
package dev.culvert.appproxy.commits;

import org.jspecify.annotations.NullMarked;
