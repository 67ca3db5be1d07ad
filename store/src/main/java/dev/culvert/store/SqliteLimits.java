package dev.culvert.store;

import java.time.Duration;

/**
 * Limits of the work that waits for a database.
 *
 * @param maxQueued the number of operations that may wait; further ones are refused at once
 * @param lockTimeout how long to wait for a database that another process holds, for example one that is
 *     stopping
 */
public record SqliteLimits(int maxQueued, Duration lockTimeout) {}
