package dev.culvert.inbox.model;

import org.jspecify.annotations.Nullable;

/**
 * The result of one step of a change of many webhooks.
 *
 * @param changed the number of webhooks that were changed
 * @param skipped the number that could not be: their content is not kept, or no webhook of the filter has the
 *     id
 * @param next where the next step begins; null: all are done
 */
public record BulkResult(long changed, long skipped, @Nullable String next) {}
