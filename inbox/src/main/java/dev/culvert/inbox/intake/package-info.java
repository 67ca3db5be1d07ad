/** Takes webhooks in: signatures, spooling, answers to senders. */
@NullMarked
package dev.culvert.inbox.intake;

import org.jspecify.annotations.NullMarked;
