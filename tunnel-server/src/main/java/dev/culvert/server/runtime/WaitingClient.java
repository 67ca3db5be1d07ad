package dev.culvert.server.runtime;

import java.time.Instant;

/**
 * A snapshot of a client that waits because another instance with the same identity serves its runtime: a
 * second replica, or a client that was replaced and not stopped.
 *
 * @param remote its address and port, at its last attempt
 * @param version its version
 * @param since the first of its consecutive attempts
 * @param seen its last attempt
 */
public record WaitingClient(String remote, String version, Instant since, Instant seen) {}
