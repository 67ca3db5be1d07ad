/**
 * Decisions by rules that are kept parsed. Start with {@link
 * dev.culvert.platform.directory.rules.AccessDecisions}.
 */
@NullMarked
package dev.culvert.platform.directory.rules;

import org.jspecify.annotations.NullMarked;
