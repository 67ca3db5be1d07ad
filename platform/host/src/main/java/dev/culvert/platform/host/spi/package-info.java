/**
 * What a module of the platform is, and what it gets from the host and from other modules. Modules know these
 * interfaces and not each other.
 */
@NullMarked
package dev.culvert.platform.host.spi;

import org.jspecify.annotations.NullMarked;
