/**
 * Access control of runtimes: the rules set by operators, and the admissions in front of tunnels that apply
 * them. Read {@link dev.culvert.server.access.AccessRules} first, then {@link
 * dev.culvert.server.access.AccessControl}.
 */
@NullMarked
package dev.culvert.server.access;

import org.jspecify.annotations.NullMarked;
