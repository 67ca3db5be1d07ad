/**
 * The control plane's directory: accounts, users, API keys, teams and rules, the decisions by these rules,
 * and the changes. Start with {@link dev.culvert.platform.host.ControlPlane}; {@code Directory} stores
 * the data.
 */
@NullMarked
package dev.culvert.platform.directory;

import org.jspecify.annotations.NullMarked;
