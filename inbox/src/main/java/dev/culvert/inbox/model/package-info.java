/** Webhooks as the inbox knows them: identity, content, state, answers. */
@NullMarked
package dev.culvert.inbox.model;

import org.jspecify.annotations.NullMarked;
