package dev.culvert.platform.triggers.git;

import dev.culvert.platform.triggers.hermes.EventBody;

/**
 * A webhook of a provider.
 *
 * @param event the name of its event, in the provider's words
 */
record GitPayload(String event, EventBody body) {}
