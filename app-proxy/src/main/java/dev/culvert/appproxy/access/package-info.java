/**
 * Who calls, and what they may do: tokens and decisions asked of the control plane and cached, and the audit log of state
 * changes. Start with {@link dev.culvert.appproxy.access.Access}.
 */
@NullMarked
package dev.culvert.appproxy.access;

import org.jspecify.annotations.NullMarked;
