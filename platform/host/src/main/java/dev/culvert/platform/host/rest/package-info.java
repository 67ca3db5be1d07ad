/**
 * REST calls of modules: declared once for routing, authorisation, the audit trail and {@code /openapi.json}.
 */
@NullMarked
package dev.culvert.platform.host.rest;

import org.jspecify.annotations.NullMarked;
