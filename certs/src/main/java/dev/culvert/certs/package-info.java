@NullMarked
package dev.culvert.certs;

import org.jspecify.annotations.NullMarked;
