package dev.culvert.relay.inbound.http1;

import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseEncoder;
import io.netty.handler.codec.http.HttpResponseStatus;

/** Encodes HTTP/1.1 responses. A response to HEAD has no body, whatever its fields declare. */
public final class Http1ResponseEncoder extends HttpResponseEncoder {
    private boolean answersHead;

    void answersHead(boolean head) {
        answersHead = head;
    }

    @Override
    protected boolean isContentAlwaysEmpty(HttpResponse response) {
        boolean upgraded = response.status().equals(HttpResponseStatus.SWITCHING_PROTOCOLS);
        return answersHead || upgraded || super.isContentAlwaysEmpty(response);
    }
}
