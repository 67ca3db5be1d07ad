/** A control plane for the tests of modules. */
@NullMarked
package dev.culvert.platform.directory.testing;

import org.jspecify.annotations.NullMarked;
