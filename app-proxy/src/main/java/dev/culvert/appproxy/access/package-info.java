/**
 * Authentication and authorisation: tokens and decisions from the control plane, cached, and the audit log of
 * state changes. Start with {@link dev.culvert.appproxy.access.Access}.
 */
@NullMarked
package dev.culvert.appproxy.access;

import org.jspecify.annotations.NullMarked;
