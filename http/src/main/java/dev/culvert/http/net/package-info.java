/** Event loops, sockets and address ranges. */
@NullMarked
package dev.culvert.http.net;

import org.jspecify.annotations.NullMarked;
