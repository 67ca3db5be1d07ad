package dev.culvert.server.page.request;

import java.util.List;

/**
 * The recent problems of a runtime, for its page.
 *
 * @param runtime {@code account/name}
 * @param lines the newest problems
 */
public record RuntimeProblems(String runtime, List<RequestLine> lines) {}
