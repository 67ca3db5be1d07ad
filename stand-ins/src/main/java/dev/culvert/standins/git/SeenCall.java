package dev.culvert.standins.git;

import org.jspecify.annotations.Nullable;

/**
 * A request that a stand-in answered.
 *
 * @param method the method
 * @param target path and query
 * @param condition the received {@code If-None-Match}, or null
 * @param status the status of the response
 */
public record SeenCall(String method, String target, @Nullable String condition, int status) {}
