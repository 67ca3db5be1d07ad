@NullMarked
package dev.culvert.edge;

import org.jspecify.annotations.NullMarked;
