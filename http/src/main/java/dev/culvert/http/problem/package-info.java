/**
 * Problem documents (RFC 9457), in JSON and as a page. They state the cause of an error and the hop that
 * noticed it.
 */
@NullMarked
package dev.culvert.http.problem;

import org.jspecify.annotations.NullMarked;
