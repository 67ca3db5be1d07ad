/**
 * The tables of events, triggers, runs and due times.
 */
@NullMarked
package dev.culvert.platform.triggers.store;

import org.jspecify.annotations.NullMarked;
