package dev.culvert.relay.exchange;

import dev.culvert.http.fields.ContentLength;
import dev.culvert.relay.Relay;
import dev.culvert.relay.RelayRequest;
import dev.culvert.relay.RelayRequest.Kind;
import dev.culvert.relay.RequestSink;
import dev.culvert.relay.ResponseSink;
import io.netty.util.AsciiString;

/**
 * A request of HTTP/2 that declares a body of no bytes, and whose stream has not ended yet. Only its end
 * shows that no body follows: forwarded earlier, the length would complete a malformed request, and without
 * its length the request would be sent to an HTTP/1.1 upstream in chunks.
 */
record EmptyRequest(Relay relay, RelayRequest request, ResponseSink response) {
    private static final AsciiString LENGTH = AsciiString.cached("content-length");
    private static final AsciiString EXPECT = AsciiString.cached("expect");

    /**
     * Whether the request has to wait for its end. One with an expectation does not, because its caller waits
     * for a response; its length is removed.
     */
    static boolean isOne(RelayRequest request) {
        boolean declared = request.kind() == Kind.HTTP && !request.ended()
                && ContentLength.of(request.fields()) == 0;
        if (declared && request.fields().contains(EXPECT)) {
            request.fields().remove(LENGTH);
            return false;
        }
        return declared;
    }

    /**
     * Forwards the request.
     *
     * @param complete whether it has ended; if not, body bytes or trailers follow, and the length is removed
     */
    RequestSink open(boolean complete) {
        if (!complete) {
            request.fields().remove(LENGTH);
        }
        return relay.open(complete
                ? new RelayRequest(request.kind(), request.fields(), true, request.loop(), request.caller())
                : request, response);
    }
}
