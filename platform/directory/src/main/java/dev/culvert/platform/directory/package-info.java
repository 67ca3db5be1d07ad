/**
 * The control plane's directory: accounts, users, API keys, teams, rules, the decisions that follow from them, and what
 * changed. Start with {@link dev.culvert.platform.directory.ControlPlane}; {@code Directory} is what it holds.
 */
@NullMarked
package dev.culvert.platform.directory;

import org.jspecify.annotations.NullMarked;
