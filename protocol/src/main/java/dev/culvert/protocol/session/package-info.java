/**
 * A session as pure state. Its inputs are frames, commands and the time; its outputs are frames, events and
 * the next deadline. No IO, no threads, no clock. {@link dev.culvert.protocol.session.Session} is the only
 * entry point. HPACK is that of Netty's HTTP/2 codec, which does no IO either.
 */
@NullMarked
package dev.culvert.protocol.session;

import org.jspecify.annotations.NullMarked;
