package dev.culvert.relay.inbound.http1;

import io.netty.handler.codec.http.DefaultHttpHeadersFactory;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http2.Http2Headers;
import java.util.Map;

/** Converts response heads to HTTP/1.1. */
final class Http1ResponseHead {
    /** Does not validate: fields were checked when they were decoded from the tunnel. */
    private static final DefaultHttpHeadersFactory FACTORY = DefaultHttpHeadersFactory.headersFactory()
            .withValidation(false);

    private Http1ResponseHead() {}

    static HttpHeaders none() {
        return FACTORY.newHeaders();
    }

    /** Returns the regular fields of a head or of trailers. */
    static HttpHeaders headers(Http2Headers head) {
        HttpHeaders headers = FACTORY.newHeaders();
        for (Map.Entry<CharSequence, CharSequence> field : head) {
            CharSequence name = field.getKey();
            if (name.length() > 0 && name.charAt(0) != ':') {
                headers.add(name, field.getValue());
            }
        }
        return headers;
    }

    /**
     * Adds the fields that frame the body (RFC 9112 §6) and control the connection.
     *
     * @return whether the connection can serve another request afterwards
     */
    static boolean frame(HttpHeaders headers, int status, HttpMethod method, HttpVersion version,
            boolean ended,
            boolean keepAlive) {
        boolean bodiless = method.equals(HttpMethod.HEAD) || status == 204 || status == 304;
        boolean reusable = keepAlive;
        if (!bodiless && !headers.contains("content-length")) {
            if (ended) {
                headers.set("content-length", "0");
            } else if (version.equals(HttpVersion.HTTP_1_1)) {
                headers.set("transfer-encoding", "chunked");
            } else {
                reusable = false; // the end of the connection is the end of the body
            }
        }
        if (!reusable) {
            headers.set("connection", "close");
        } else if (version.equals(HttpVersion.HTTP_1_0)) {
            headers.set("connection", "keep-alive");
        }
        return reusable;
    }
}
