/**
 * Drives a session from a WebSocket channel: batches, timers, writability. Read {@link
 * dev.culvert.protocol.netty.TunnelChannelHandler} first, then {@link dev.culvert.protocol.netty.TunnelStream}, with
 * which a stream is written, and the listeners that are told of what arrives. Everything happens on the channel's event
 * loop, but for what says otherwise.
 */
@NullMarked
package dev.culvert.protocol.netty;

import org.jspecify.annotations.NullMarked;
