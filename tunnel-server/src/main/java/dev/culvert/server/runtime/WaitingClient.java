package dev.culvert.server.runtime;

import java.time.Instant;

/**
 * A client that waits for a runtime which another instance with the same identity serves: as twins do, or one that was
 * replaced and not stopped. A snapshot.
 *
 * @param remote its address and port, at its last attempt
 * @param version its version
 * @param since its first attempt of those in a row
 * @param seen its last attempt
 */
public record WaitingClient(String remote, String version, Instant since, Instant seen) {}
