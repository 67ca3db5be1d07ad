package dev.culvert.relay;

import io.netty.util.AsciiString;
import org.jspecify.annotations.Nullable;

/** The content type of gRPC over HTTP/2. */
public final class GrpcContent {
    private static final String TYPE = "application/grpc";

    private GrpcContent() {}

    /** Whether a message with this content type belongs to a gRPC call over HTTP/2. False for gRPC-Web. */
    public static boolean isGrpc(@Nullable CharSequence contentType) {
        if (contentType == null || contentType.length() < TYPE.length()
                || !AsciiString.contentEqualsIgnoreCase(TYPE, contentType.subSequence(0, TYPE.length()))) {
            return false;
        }
        return contentType.length() == TYPE.length() || "+; ".indexOf(contentType.charAt(TYPE.length())) >= 0;
    }
}
