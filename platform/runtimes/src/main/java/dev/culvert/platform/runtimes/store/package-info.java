/** The stored runtimes. */
@NullMarked
package dev.culvert.platform.runtimes.store;

import org.jspecify.annotations.NullMarked;
