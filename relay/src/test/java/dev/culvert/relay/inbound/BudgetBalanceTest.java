package dev.culvert.relay.inbound;

import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.http.problem.Problem;
import dev.culvert.http.problem.Problem.Cause;
import dev.culvert.http.problem.Problem.Hop;
import dev.culvert.relay.quota.CallerLimits;
import dev.culvert.relay.quota.MemoryBudget;
import dev.culvert.relay.testing.FakeRelay;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.DefaultHttp2HeadersEncoder;
import io.netty.handler.codec.http2.Http2Headers;
import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Whatever happens to exchanges, in whatever order: when their connection has ended, the memory budget holds nothing. */
class BudgetBalanceTest {
    private static final int CONNECTIONS = 400;
    private static final int STEPS = 40;
    private static final int MAX = 1 << 20;
    private static final Problem BROKEN = Problem.of(Cause.TUNNEL_LOST, Hop.TUNNEL, "lost");

    private final MemoryBudget budget = MemoryBudget.ofProcess(MAX);
    /** Exchanges of the connection whose answer has begun. */
    private final Set<FakeRelay.Exchange> begun = new HashSet<>();

    /** What a caller sends next. */
    private interface Caller {
        String next(Random random);
    }

    private void play(long seed, boolean http2, Caller caller) {
        Random random = new Random(seed);
        begun.clear();
        int filled = 0;
        try (var edge = http2
                ? EmbeddedEdge.http2(budget)
                : new EmbeddedEdge(CallerLimits.defaults(), budget)) {
            edge.relay.answer(exchange -> exchange.eager = random.nextBoolean());
            for (int step = 0; step < STEPS && edge.isOpen(); step++) {
                switch (random.nextInt(8)) {
                    case 0 -> {
                        if (filled == 0) {
                            filled = random.nextInt(MAX / 2, MAX);
                            budget.take(filled);
                        } else {
                            budget.give(filled);
                            filled = 0;
                            budget.tick();
                        }
                    }
                    case 1 -> edge.block(random.nextBoolean());
                    case 2, 3, 4 -> edge.send(caller.next(random));
                    default -> answer(edge, random);
                }
                edge.written();
            }
            edge.hangUp();
        }
        budget.give(filled);
        budget.tick();
        assertThat(budget.used()).as("seed " + seed).isZero();
    }

    private void answer(EmbeddedEdge edge, Random random) {
        if (edge.relay.all.isEmpty()) {
            return;
        }
        FakeRelay.Exchange exchange = edge.relay.all.get(random.nextInt(edge.relay.all.size()));
        if (begun.add(exchange)) {
            begin(exchange, random);
            return;
        }
        switch (random.nextInt(7)) {
            case 0, 1 -> exchange.body(1 + random.nextInt(random.nextBoolean() ? 100 : 100_000));
            case 2 -> exchange.end();
            case 3 -> exchange.end("x-trailer", "value");
            case 4 -> exchange.fail(BROKEN);
            default -> passOn(exchange, random);
        }
    }

    private void begin(FakeRelay.Exchange exchange, Random random) {
        switch (random.nextInt(5)) {
            case 0 -> exchange.ok("hello");
            case 1 -> exchange.head("204", true);
            case 2 -> exchange.fail(BROKEN);
            case 3 -> {
                passOn(exchange, random);
                begun.remove(exchange);
            }
            default -> exchange.head("200", false);
        }
    }

    /** Reports some of what came and was not reported. */
    private static void passOn(FakeRelay.Exchange exchange, Random random) {
        int received = exchange.receivedBytes.intValue();
        if (!exchange.eager && !exchange.isOver() && received > 0) {
            exchange.passOn(1 + random.nextInt(received));
            exchange.receivedBytes.set(0);
        }
    }

    @Test
    void http1ConnectionsLeaveNothing() {
        for (int i = 0; i < CONNECTIONS; i++) {
            play(i, false, BudgetBalanceTest::http1);
        }
    }

    /** Requests, and pieces of requests that fit nowhere at times. */
    private static String http1(Random random) {
        String chunked = "POST / HTTP/1.1\r\nHost: acme.example\r\nTransfer-Encoding: chunked\r\n\r\n";
        return switch (random.nextInt(9)) {
            case 0 -> "GET / HTTP/1.1\r\nHost: acme.example\r\n\r\n".repeat(1 + random.nextInt(3));
            case 1 -> chunked;
            case 2 -> chunked + "1\r\nx\r\n".repeat(1 + random.nextInt(50));
            case 3 -> "5\r\nhello\r\n".repeat(1 + random.nextInt(50));
            case 4 -> "0\r\n\r\n";
            case 5 -> chunked + "5\r\nhello\r\n0\r\nx-trailer: value\r\n\r\n";
            case 6 -> "POST / HTTP/1.1\r\nHost: acme.example\r\nContent-Length: 100000\r\n\r\n"
                    + "a".repeat(random.nextInt(100_000));
            case 7 -> "POST / HTTP/1.1\r\nHost: acme.example\r\nContent-Length: 13\r\n\r\nwebhook-12345";
            default -> "GET / HTTP/1.1\r\nHost: nobody.example\r\n\r\n";
        };
    }

    @Test
    void http2ConnectionsLeaveNothing() {
        for (int i = 0; i < CONNECTIONS; i++) {
            play(i, true, new Http2Caller());
        }
    }

    /** Opens streams, sends pieces of bodies and trailers, and resets. */
    private static final class Http2Caller implements Caller {
        private final DefaultHttp2HeadersEncoder encoder = new DefaultHttp2HeadersEncoder();
        private int last = -1;

        @Override
        public String next(Random random) {
            if (last < 0) {
                last = 1;
                return "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(4, 0, 0, Unpooled.EMPTY_BUFFER)
                        + head(false);
            }
            int stream = 1 + 2 * random.nextInt(last / 2 + 1);
            return switch (random.nextInt(8)) {
                case 0 -> {
                    last += 2;
                    yield head(true);
                }
                case 1, 2 -> {
                    last += 2;
                    yield head(false);
                }
                case 3 -> frame(0, 0, stream, Unpooled.wrappedBuffer(new byte[1])).repeat(100);
                case 4 -> frame(0, 0, stream, Unpooled.wrappedBuffer(new byte[16_000]));
                case 5 -> frame(0, 1, stream, Unpooled.wrappedBuffer(new byte[13]));
                case 6 -> frame(1, 5, stream, block(new DefaultHttp2Headers().add("x-trailer", "value")));
                default -> frame(3, 0, stream, Unpooled.copyInt(8));
            };
        }

        private String head(boolean ended) {
            return frame(1, ended ? 5 : 4, last, block(new DefaultHttp2Headers(false)
                    .method(ended ? "GET" : "POST")
                    .scheme("https")
                    .authority(EmbeddedEdge.HOST)
                    .path("/")));
        }

        private ByteBuf block(Http2Headers head) {
            ByteBuf block = Unpooled.buffer();
            try {
                encoder.encodeHeaders(last, head, block);
            } catch (Exception e) {
                throw new IllegalArgumentException(e);
            }
            return block;
        }

        private static String frame(int type, int flags, int stream, ByteBuf payload) {
            return Unpooled.buffer()
                    .writeMedium(payload.readableBytes())
                    .writeByte(type)
                    .writeByte(flags)
                    .writeInt(stream)
                    .writeBytes(payload)
                    .toString(StandardCharsets.ISO_8859_1);
        }
    }
}
