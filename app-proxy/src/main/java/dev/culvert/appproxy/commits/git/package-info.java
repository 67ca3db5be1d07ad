/** The repositories of commits: mirrors, remotes, refs. */
@NullMarked
package dev.culvert.appproxy.commits.git;

import org.jspecify.annotations.NullMarked;
