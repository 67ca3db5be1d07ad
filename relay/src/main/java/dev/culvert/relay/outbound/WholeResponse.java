package dev.culvert.relay.outbound;

import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.util.AsciiString;
import org.jspecify.annotations.Nullable;

/**
 * A final response of the usual form with a {@code Content-Length}, which came whole, and the connection
 * stays open behind it.
 *
 * @param fields status and lower-case names, without those of this hop
 * @param keepAlive the value of {@code Keep-Alive}
 * @param body owned by the receiver; empty if the length is 0
 */
record WholeResponse(Http2Headers fields, @Nullable AsciiString keepAlive, ByteBuf body) {}
