package dev.culvert.server.runtime;

import java.time.Instant;

/**
 * Makes enrolment tokens: random secrets with the pin of the server's authority. Thread-safe; does not block.
 */
@FunctionalInterface
public interface TokenIssuer {
    /** Makes a new token for a runtime. It is refused from {@code expires} on. */
    IssuedToken issue(String runtimeId, Instant expires);
}
