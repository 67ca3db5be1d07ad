/**
 * Who may call a runtime: the rules that its operator gives, and the admissions that they become in front of its tunnel.
 * Read {@link dev.culvert.server.access.AccessRules} first, then {@link dev.culvert.server.access.AccessControl}.
 */
@NullMarked
package dev.culvert.server.access;

import org.jspecify.annotations.NullMarked;
