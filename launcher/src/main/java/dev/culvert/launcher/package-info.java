@NullMarked
package dev.culvert.launcher;

import org.jspecify.annotations.NullMarked;
