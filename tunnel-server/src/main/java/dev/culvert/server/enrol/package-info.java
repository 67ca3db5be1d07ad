/** Certificates for tunnel clients: enrolment and renewal. */
@NullMarked
package dev.culvert.server.enrol;

import org.jspecify.annotations.NullMarked;
