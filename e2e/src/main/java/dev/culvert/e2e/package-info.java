@NullMarked
package dev.culvert.e2e;

import org.jspecify.annotations.NullMarked;
