@NullMarked
package dev.culvert.client;

import org.jspecify.annotations.NullMarked;
