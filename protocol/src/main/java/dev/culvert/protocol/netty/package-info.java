/**
 * Drives a session from a WebSocket channel: batches, timers, writability. Read {@link
 * dev.culvert.protocol.netty.TunnelChannelHandler} first, then {@link
 * dev.culvert.protocol.netty.TunnelStream}, which writes a stream, and the listeners, which receive events.
 * All methods run on the channel's event loop unless their Javadoc states otherwise.
 */
@NullMarked
package dev.culvert.protocol.netty;

import org.jspecify.annotations.NullMarked;
