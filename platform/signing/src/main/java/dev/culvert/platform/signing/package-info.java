/** The module that signs certificates of build machines: one authority for each account. */
@NullMarked
package dev.culvert.platform.signing;

import org.jspecify.annotations.NullMarked;
