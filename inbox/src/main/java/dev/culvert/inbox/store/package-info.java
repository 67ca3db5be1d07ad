/** Webhooks on disk: commits, reads, retention, and backup. */
@NullMarked
package dev.culvert.inbox.store;

import org.jspecify.annotations.NullMarked;
