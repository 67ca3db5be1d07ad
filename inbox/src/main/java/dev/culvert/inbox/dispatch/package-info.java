/** Delivers stored webhooks and records each attempt. */
@NullMarked
package dev.culvert.inbox.dispatch;

import org.jspecify.annotations.NullMarked;
