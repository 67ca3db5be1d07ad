/** The control plane's directory: accounts, users, API keys, teams, rules, and the decisions that follow from them. */
@NullMarked
package dev.culvert.platform.directory;

import org.jspecify.annotations.NullMarked;
