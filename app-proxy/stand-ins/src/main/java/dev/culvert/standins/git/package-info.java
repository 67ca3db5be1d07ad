/** Git providers for tests and the demo: their REST paths, paging, fields and errors over real bare repositories. */
@NullMarked
package dev.culvert.standins.git;

import org.jspecify.annotations.NullMarked;
