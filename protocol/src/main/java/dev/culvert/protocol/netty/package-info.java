/**
 * Drives a session from a WebSocket channel: batches, timers, writability.
 */
@NullMarked
package dev.culvert.protocol.netty;

import org.jspecify.annotations.NullMarked;
