@NullMarked
package dev.culvert.appproxy;

import org.jspecify.annotations.NullMarked;
