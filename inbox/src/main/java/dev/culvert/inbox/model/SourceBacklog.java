package dev.culvert.inbox.model;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * What is left undelivered of an event source.
 *
 * @param runtimeId its runtime
 * @param source its name, as {@code argo/push}
 * @param pending the number of webhooks that wait
 * @param dead the number of dead ones
 * @param oldest when the first one in line was stored; null: none waits
 * @param deadSince when the first dead one died; null: none is dead
 */
public record SourceBacklog(String runtimeId, String source, long pending, long dead,
        @Nullable Instant oldest, @Nullable Instant deadSince) {}
