/**
 * Events and their triggers: who may say that something happened, and what it starts.
 */
@NullMarked
package dev.culvert.platform.triggers.hermes;

import org.jspecify.annotations.NullMarked;
