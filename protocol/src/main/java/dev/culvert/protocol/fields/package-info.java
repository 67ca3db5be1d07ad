/** The fields of heads, as all parts hold them. */
@NullMarked
package dev.culvert.protocol.fields;

import org.jspecify.annotations.NullMarked;
