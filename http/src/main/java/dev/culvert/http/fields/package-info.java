/** Header fields: lists, preferences, lengths, ids. */
@NullMarked
package dev.culvert.http.fields;

import org.jspecify.annotations.NullMarked;
