/** Who may use the admin API. */
@NullMarked
package dev.culvert.server.token;

import org.jspecify.annotations.NullMarked;
