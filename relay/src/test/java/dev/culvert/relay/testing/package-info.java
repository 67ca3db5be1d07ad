/** What tests of other modules share: the jar of this module's tests holds this package alone. */
@NullMarked
package dev.culvert.relay.testing;

import org.jspecify.annotations.NullMarked;
