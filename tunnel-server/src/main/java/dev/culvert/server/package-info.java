@NullMarked
package dev.culvert.server;

import org.jspecify.annotations.NullMarked;
