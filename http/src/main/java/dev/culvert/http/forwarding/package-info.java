/** Which header fields cross a hop, and what each hop adds (RFC 9110 §7.6, RFC 7239). */
@NullMarked
package dev.culvert.http.forwarding;

import org.jspecify.annotations.NullMarked;
