/** The client's certificate: enrolment, storage, renewal. */
@NullMarked
package dev.culvert.client.identity;

import org.jspecify.annotations.NullMarked;
