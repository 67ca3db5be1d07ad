/** Tokens and roles of the admin API. */
@NullMarked
package dev.culvert.server.token;

import org.jspecify.annotations.NullMarked;
