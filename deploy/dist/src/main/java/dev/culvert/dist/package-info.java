/** Writes what an installation holds beside jars: manual pages, completion, licences and checksums. */
@NullMarked
package dev.culvert.dist;

import org.jspecify.annotations.NullMarked;
