package dev.culvert.relay.inbound;

import dev.culvert.http.fields.HostName;
import dev.culvert.http.forwarding.ForwardingRules;
import dev.culvert.http.observe.Telemetry;
import dev.culvert.http.problem.Problem;
import dev.culvert.relay.Relay;
import dev.culvert.relay.RelayRequest;
import dev.culvert.relay.RequestSink;
import dev.culvert.relay.ResponseSink;
import dev.culvert.relay.exchange.EdgeContext;
import dev.culvert.relay.exchange.EdgeMeters;
import dev.culvert.relay.exchange.EdgeReporting;
import dev.culvert.relay.exchange.EdgeRuntimes;
import dev.culvert.relay.inbound.http1.Http1EdgeConnection;
import dev.culvert.relay.inbound.http1.Http1RequestDecoder;
import dev.culvert.relay.inbound.http1.Http1ResponseEncoder;
import dev.culvert.relay.quota.CallerLimits;
import dev.culvert.relay.quota.MemoryBudget;
import dev.culvert.relay.quota.OwnLimits;
import dev.culvert.relay.quota.RuntimeQuotas;
import dev.culvert.relay.testing.Answers;
import dev.culvert.relay.testing.SeenRequest;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.util.AsciiString;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * One connection of HTTP/1.1 without a socket, whose runtime answers 200 to each whole request and writes down what an
 * HTTP/1.1 upstream would get. What connections share is made once, so that thousands a second can be tried.
 */
final class FuzzedEdge {
    private static final Telemetry TELEMETRY = new Telemetry();
    private static final CallerLimits LIMITS = CallerLimits.defaults();
    private static final RuntimeQuotas QUOTAS = new RuntimeQuotas(LIMITS.ofRuntime(),
            MemoryBudget.ofProcess(0));
    private static final ForwardingRules RULES = new ForwardingRules("test", List.of());
    private static final EdgeMeters METERS = new EdgeMeters(TELEMETRY);

    private final List<Forwarded> forwarded = new ArrayList<>();
    private final StringBuilder written = new StringBuilder();

    /**
     * A request that was forwarded whole.
     *
     * @param seen what the runtime was given
     * @param bytes the same as HTTP/1.1, a character each
     */
    record Forwarded(SeenRequest seen, String bytes) {}

    /** Sends these bytes in pieces of this size, and hangs up. Throws what a handler threw. */
    void send(byte[] bytes, int piece) {
        EdgeRuntimes runtimes = authority -> HostName.of(authority).equals(EmbeddedEdge.HOST)
                ? new EdgeRuntimes.RuntimeEndpoint("acme/prod", relay(), QUOTAS.of("id-1", OwnLimits.NONE))
                : null;
        var shared = new EdgeContext(runtimes, RULES, LIMITS, TELEMETRY, METERS,
                AsciiString.cached("https"), null, EdgeReporting.NONE, QUOTAS.memory());
        var decoder = new Http1RequestDecoder(LIMITS);
        var encoder = new Http1ResponseEncoder();
        EmbeddedChannel channel = new EmbeddedEdge.AddressedChannel();
        channel.pipeline().addLast(decoder, encoder, new Http1EdgeConnection(shared, decoder, encoder));
        channel.pipeline().fireChannelActive();
        for (int at = 0; at < bytes.length && channel.isOpen(); at += piece) {
            channel.writeInbound(Unpooled.copiedBuffer(bytes, at, Math.min(piece, bytes.length - at)));
            channel.runPendingTasks();
        }
        for (ByteBuf part = channel.readOutbound(); part != null; part = channel.readOutbound()) {
            written.append(part.toString(StandardCharsets.ISO_8859_1));
            part.release();
        }
        channel.finishAndReleaseAll();
    }

    List<Forwarded> forwarded() {
        return forwarded;
    }

    List<String> requests() {
        return forwarded.stream().map(request -> request.seen().toString()).toList();
    }

    List<String> answers() {
        return Answers.of(written.toString());
    }

    private Relay relay() {
        return (request, response) -> {
            var exchange = new Exchange(request, response);
            if (request.ended()) {
                exchange.end(null);
            }
            return exchange;
        };
    }

    /** Takes a request as the router would (docs/protocol.md §5): its length, or chunks. */
    private final class Exchange implements RequestSink {
        private final RelayRequest request;
        private final ResponseSink response;
        private final ByteArrayOutputStream body = new ByteArrayOutputStream();
        private final StringBuilder message = new StringBuilder();
        private final SeenRequest seen;
        private boolean over;

        Exchange(RelayRequest request, ResponseSink response) {
            this.request = request;
            this.response = response;
            Http2Headers fields = request.fields();
            String line = fields.method() + " " + fields.path();
            seen = SeenRequest.of(line);
            message.append(line).append(" HTTP/1.1\r\n");
            field("host", fields.authority());
            for (Map.Entry<CharSequence, CharSequence> field : fields) {
                if (field.getKey().charAt(0) != ':') {
                    field(field.getKey(), field.getValue());
                }
            }
        }

        private void field(CharSequence name, CharSequence value) {
            seen.field(name + ": " + value);
            message.append(name).append(": ").append(value).append("\r\n");
        }

        @Override
        public void data(ByteBuf bytes) {
            int size = bytes.readableBytes();
            body.writeBytes(io.netty.buffer.ByteBufUtil.getBytes(bytes));
            bytes.release();
            if (!over) {
                response.consumed(size);
            }
        }

        @Override
        public void end(@Nullable Http2Headers trailers) {
            if (over) {
                return;
            }
            over = true;
            String text = body.toString(StandardCharsets.ISO_8859_1);
            seen.body(text);
            if (request.fields().contains("content-length") || request.ended()) {
                message.append("\r\n").append(text);
            } else {
                message.append("transfer-encoding: chunked\r\n\r\n");
                if (!text.isEmpty()) {
                    message.append(Integer.toHexString(text.length()))
                            .append("\r\n")
                            .append(text)
                            .append("\r\n");
                }
                message.append("0\r\n");
                if (trailers != null) {
                    trailers.forEach(field -> {
                        seen.trailer(field.getKey() + ": " + field.getValue());
                        message.append(field.getKey()).append(": ").append(field.getValue()).append("\r\n");
                    });
                }
                message.append("\r\n");
            }
            forwarded.add(new Forwarded(seen, message.toString()));
            response.head(new DefaultHttp2Headers().status("200").set("content-length", "4"), false);
            response.data(Unpooled.copiedBuffer("seen", StandardCharsets.US_ASCII));
            response.end(null);
        }

        @Override
        public void cancel(Problem reason) {
            over = true;
        }

        @Override
        public void consumed(int bytes) {}
    }
}
