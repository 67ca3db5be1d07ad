/** Blocking callers and waits, for the tests of this module. */
@NullMarked
package dev.culvert.server.testing;

import org.jspecify.annotations.NullMarked;
