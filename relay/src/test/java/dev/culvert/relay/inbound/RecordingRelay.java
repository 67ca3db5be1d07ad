package dev.culvert.relay.inbound;

import dev.culvert.http.problem.Problem;
import dev.culvert.relay.Relay;
import dev.culvert.relay.RelayRequest;
import dev.culvert.relay.RequestSink;
import dev.culvert.relay.ResponseSink;
import dev.culvert.relay.testing.SeenRequest;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.Http2Headers;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;

/** A runtime that answers 200 to each whole request, and remembers it. */
final class RecordingRelay implements Relay {
    final List<SeenRequest> whole = new CopyOnWriteArrayList<>();
    /** Requests that have begun and not ended. */
    final List<String> open = new CopyOnWriteArrayList<>();

    @Override
    public RequestSink open(RelayRequest request, ResponseSink response) {
        var exchange = new Exchange(request, response);
        open.add(exchange.line);
        if (request.ended()) {
            exchange.end(null);
        }
        return exchange;
    }

    private final class Exchange implements RequestSink {
        private final String line;
        private final SeenRequest seen;
        private final ResponseSink response;
        private final StringBuilder body = new StringBuilder();
        private boolean over;

        private Exchange(RelayRequest request, ResponseSink response) {
            this.response = response;
            line = request.fields().method() + " " + request.fields().path();
            seen = SeenRequest.of(line);
            for (Map.Entry<CharSequence, CharSequence> field : request.fields()) {
                if (field.getKey().charAt(0) != ':') {
                    seen.field(field.getKey() + ": " + field.getValue());
                }
            }
            seen.field("host: " + request.fields().authority());
        }

        @Override
        public void data(ByteBuf bytes) {
            int size = bytes.readableBytes();
            body.append(bytes.toString(StandardCharsets.ISO_8859_1));
            bytes.release();
            if (!over) {
                response.consumed(size);
            }
        }

        @Override
        public void end(@Nullable Http2Headers trailers) {
            over = true;
            seen.body(body.toString());
            if (trailers != null) {
                trailers.forEach(field -> seen.trailer(field.getKey() + ": " + field.getValue()));
            }
            whole.add(seen);
            open.remove(line);
            response.head(new DefaultHttp2Headers().status("200").set("content-length", "4"), false);
            response.data(Unpooled.copiedBuffer("seen", StandardCharsets.US_ASCII));
            response.end(null);
        }

        @Override
        public void cancel(Problem reason) {
            over = true;
            open.remove(line);
        }

        @Override
        public void consumed(int bytes) {}
    }
}
