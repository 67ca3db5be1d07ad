/** The tables of authorities, names and certificates. */
@NullMarked
package dev.culvert.platform.signing.store;

import org.jspecify.annotations.NullMarked;
