@NullMarked
package dev.culvert.protocol;

import org.jspecify.annotations.NullMarked;
