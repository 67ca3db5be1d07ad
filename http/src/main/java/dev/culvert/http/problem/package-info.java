/** Problem documents (RFC 9457): what went wrong, whose fault it is, in JSON and as a page. */
@NullMarked
package dev.culvert.http.problem;

import org.jspecify.annotations.NullMarked;
