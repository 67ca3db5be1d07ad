/** Reads request bodies within a quota. */
@NullMarked
package dev.culvert.handlers.body;

import org.jspecify.annotations.NullMarked;
