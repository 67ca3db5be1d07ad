/** The model of webhooks in the inbox: identity, content, state, responses. */
@NullMarked
package dev.culvert.inbox.model;

import org.jspecify.annotations.NullMarked;
