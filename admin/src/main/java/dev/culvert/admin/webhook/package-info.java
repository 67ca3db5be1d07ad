/** The calls on an inbox, for every part that has one. */
@NullMarked
package dev.culvert.admin.webhook;

import org.jspecify.annotations.NullMarked;
