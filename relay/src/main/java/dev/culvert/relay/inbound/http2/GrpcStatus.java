package dev.culvert.relay.inbound.http2;

import dev.culvert.http.problem.Problem;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.Http2Headers;
import java.nio.charset.StandardCharsets;

/**
 * Converts problems of the gateway to gRPC statuses (gRPC over HTTP/2), for calls whose response has begun.
 */
final class GrpcStatus {
    private GrpcStatus() {}

    /**
     * Returns the trailers that end a call with {@code why}. Their status marks it as failed, so that clients
     * do not take it for complete.
     */
    static Http2Headers trailers(Problem why) {
        return new DefaultHttp2Headers(false, 4).add("grpc-status", Integer.toString(number(why)))
                .add("grpc-message", encoded(why.detail()));
    }

    /**
     * Returns the code to which gRPC clients map the HTTP status that the problem has before the response
     * begins.
     */
    private static int number(Problem why) {
        return switch (why.cause().status()) {
            case 413 -> 8; // RESOURCE_EXHAUSTED
            case 429, 502, 503, 504 -> 14; // UNAVAILABLE
            case 400, 431, 500 -> 13; // INTERNAL
            default -> 2; // UNKNOWN
        };
    }

    /**
     * Percent-encodes all characters except visible ASCII and the space; the percent sign is encoded, too.
     */
    private static String encoded(String text) {
        var message = new StringBuilder(text.length());
        for (byte octet : text.getBytes(StandardCharsets.UTF_8)) {
            if (octet >= ' ' && octet <= '~' && octet != '%') {
                message.append((char) octet);
            } else {
                message.append(String.format("%%%02X", octet & 0xff));
            }
        }
        return message.toString();
    }
}
