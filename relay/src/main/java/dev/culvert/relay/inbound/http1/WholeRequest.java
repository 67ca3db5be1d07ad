package dev.culvert.relay.inbound.http1;

import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http2.Http2Headers;

/**
 * A request of the usual form without a body, which came whole: GET or HEAD, for a path, of HTTP/1.1, and the
 * connection stays open behind it. Checked like any other.
 *
 * @param fields lower-case names without those of this hop; of the pseudo-fields only the scheme is missing
 * @param host the requested host, as sent
 */
record WholeRequest(HttpMethod method, Http2Headers fields, String host) {}
