package dev.culvert.store;

import java.time.Duration;

/**
 * What a database waits for at most.
 *
 * @param maxQueued operations that wait; more are refused at once
 * @param lockTimeout wait for a database that another process holds, as one that is just ending
 */
public record SqliteLimits(int maxQueued, Duration lockTimeout) {}
