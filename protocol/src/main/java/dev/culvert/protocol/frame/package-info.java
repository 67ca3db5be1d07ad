/**
 * The wire format of docs/protocol.md: encodes and decodes frames. Read {@link
 * dev.culvert.protocol.frame.Frame} first, then {@link dev.culvert.protocol.frame.FrameCodec}. No IO, no
 * state.
 */
@NullMarked
package dev.culvert.protocol.frame;

import org.jspecify.annotations.NullMarked;
