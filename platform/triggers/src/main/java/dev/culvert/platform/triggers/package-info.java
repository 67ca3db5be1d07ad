/**
 * The module of triggers: what starts a pipeline when something happens.
 */
@NullMarked
package dev.culvert.platform.triggers;

import org.jspecify.annotations.NullMarked;
