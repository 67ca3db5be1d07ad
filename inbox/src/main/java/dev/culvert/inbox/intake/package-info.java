/** Receives webhooks: signatures, spooling, responses to callers. */
@NullMarked
package dev.culvert.inbox.intake;

import org.jspecify.annotations.NullMarked;
