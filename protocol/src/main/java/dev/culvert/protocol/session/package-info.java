/**
 * A session as pure state: frames, commands and the time go in; frames, events and the next deadline come out. No IO, no
 * threads, no clock. {@link dev.culvert.protocol.session.Session} is the only way in; HPACK comes from Netty's HTTP/2
 * codec, which does no IO either.
 */
@NullMarked
package dev.culvert.protocol.session;

import org.jspecify.annotations.NullMarked;
