/**
 * The tunnel client: gets an identity, dials out, keeps the tunnel up, and forwards its streams. For the identity start
 * with {@link dev.culvert.client.IdentitySource}: it reads the stored one, or enrols with a token (docs/enrolment.md).
 */
@NullMarked
package dev.culvert.client;

import org.jspecify.annotations.NullMarked;
