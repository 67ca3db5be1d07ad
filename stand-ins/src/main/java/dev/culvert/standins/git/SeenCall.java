package dev.culvert.standins.git;

import org.jspecify.annotations.Nullable;

/**
 * A request that a stand-in answered.
 *
 * @param method the method
 * @param target path and query
 * @param condition the {@code If-None-Match} that was sent, or null
 * @param status what was answered
 */
public record SeenCall(String method, String target, @Nullable String condition, int status) {}
