/** Header fields that a gateway forwards, removes and adds (RFC 9110 §7.6, RFC 7239). */
@NullMarked
package dev.culvert.http.forwarding;

import org.jspecify.annotations.NullMarked;
