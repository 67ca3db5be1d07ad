@NullMarked
package dev.culvert.router;

import org.jspecify.annotations.NullMarked;
