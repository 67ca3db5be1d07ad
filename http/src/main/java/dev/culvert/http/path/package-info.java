/** Request paths: their raw form, patterns and templates. */
@NullMarked
package dev.culvert.http.path;

import org.jspecify.annotations.NullMarked;
