/** Tests of the Helm charts of this folder. */
@NullMarked
package dev.culvert.helm;

import org.jspecify.annotations.NullMarked;
