/** Metrics, readiness and the audit trail. */
@NullMarked
package dev.culvert.http.observe;

import org.jspecify.annotations.NullMarked;
