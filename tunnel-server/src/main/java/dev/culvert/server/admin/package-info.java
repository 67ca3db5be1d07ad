/** The admin API and its pages. */
@NullMarked
package dev.culvert.server.admin;

import org.jspecify.annotations.NullMarked;
