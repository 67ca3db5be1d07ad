package dev.culvert.protocol.session;

import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.protocol.frame.ErrorCode;
import dev.culvert.protocol.frame.HeadOptions;
import dev.culvert.protocol.frame.StreamKind;
import dev.culvert.protocol.session.SessionEvent.Opened;
import dev.culvert.protocol.session.SessionEvent.PeerHello;
import dev.culvert.protocol.session.SessionEvent.ResponseHead;
import io.netty.handler.codec.http2.Http2Headers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Two applications that do whatever they may, by chance; they remember it, and compare it with what arrived. */
final class RandomTraffic {
    /** A sender keeps to this, well below where its stream would be reset. */
    private static final int MAX_QUEUED = 300_000;

    private final SessionPair pair;
    private final Random random;
    private final Map<Integer, Exchange> exchanges = new TreeMap<>();
    private final int mostHeadBytes;

    /** What was done on one stream. */
    private static final class Exchange {
        final int id;
        final Http2Headers request;
        final List<Http2Headers> answers = new ArrayList<>();
        boolean known;
        boolean answered;
        boolean requestEnded;
        boolean responseEnded;
        boolean serverReset;
        boolean clientReset;
        @Nullable
        Http2Headers requestTrailers;
        @Nullable
        Http2Headers responseTrailers;

        Exchange(int id, Http2Headers request) {
            this.id = id;
            this.request = request;
        }
    }

    RandomTraffic(SessionPair pair, long seed, int mostHeadBytes) {
        this.pair = pair;
        this.random = new Random(seed);
        this.mostHeadBytes = mostHeadBytes;
        pair.client.onEvent = event -> {
            if (event instanceof Opened opened) {
                Exchange exchange = exchange(opened.streamId());
                assertThat(opened.head()).hasToString(exchange.request.toString());
                exchange.known = true;
            }
        };
        pair.server.onEvent = event -> {
            if (event instanceof PeerHello) {
                pair.server.session.ready(1, 2, 3, "acme/prod", "h");
            } else if (event instanceof ResponseHead head) {
                int seen = pair.server.log(head.streamId()).heads.size();
                assertThat(head.head()).hasToString(
                        exchange(head.streamId()).answers.get(seen - 1).toString());
            }
        };
    }

    private Exchange exchange(int id) {
        return Objects.requireNonNull(exchanges.get(id), () -> "nobody opened stream " + id);
    }

    /** Does {@code operations} things, with time passing between them. */
    void run(int operations) {
        for (int i = 0; i < operations; i++) {
            operation();
            if (random.nextInt(4) == 0) {
                pair.advance(Duration.ofNanos(random.nextInt(20_000_000)));
            }
        }
    }

    private void operation() {
        int choice = random.nextInt(100);
        if (choice < 12) {
            open();
        } else if (choice < 25) {
            onRandomExchange(this::upload);
        } else if (choice < 45) {
            onRandomExchange(this::answer);
        } else if (choice < 70) {
            onRandomExchange(this::download);
        } else if (choice < 80) {
            onRandomExchange(this::endRequest);
        } else if (choice < 86) {
            onRandomExchange(this::endResponse);
        } else if (choice < 98) {
            onRandomExchange(exchange -> read(random.nextBoolean() ? pair.server : pair.client, exchange));
        } else {
            onRandomExchange(this::reset);
        }
    }

    private interface Operation {
        void on(Exchange exchange);
    }

    private void onRandomExchange(Operation operation) {
        List<Exchange> open = exchanges.values()
                .stream()
                .filter(e -> mayUse(pair.server, e) || mayUse(pair.client, e))
                .toList();
        if (!open.isEmpty()) {
            operation.on(open.get(random.nextInt(open.size())));
        }
    }

    private boolean mayUse(Side side, Exchange exchange) {
        boolean reset = side == pair.server ? exchange.serverReset : exchange.clientReset;
        return (side == pair.server || exchange.known) && !reset && !side.log(exchange.id).isOver();
    }

    private void open() {
        if (!pair.server.session.canOpen()) {
            return;
        }
        Http2Headers head = extended(Side.request("/" + random.nextInt(20)));
        boolean ended = random.nextInt(3) == 0;
        HeadOptions options = random.nextInt(4) == 0
                ? HeadOptions.window(1 + random.nextInt(100_000))
                : HeadOptions.NONE;
        StreamKind kind = random.nextBoolean() ? StreamKind.HTTP : StreamKind.UPGRADE;
        int id = pair.server.session.open(kind, head, options, ended);
        assertThat(id).isPositive();
        Exchange exchange = new Exchange(id, head);
        exchange.requestEnded = ended;
        exchanges.put(id, exchange);
    }

    private Http2Headers extended(Http2Headers head) {
        for (int i = random.nextInt(6); i > 0; i--) {
            int size = random.nextInt(30) == 0 ? random.nextInt(mostHeadBytes) : random.nextInt(40);
            head.add("x-" + random.nextInt(30), "~".repeat(Math.min(size, mostHeadBytes / 8)));
        }
        return head;
    }

    private void upload(Exchange exchange) {
        if (mayUse(pair.server, exchange) && !exchange.requestEnded) {
            write(pair.server, exchange.id);
        }
    }

    private void download(Exchange exchange) {
        if (mayUse(pair.client, exchange) && exchange.answered && !exchange.responseEnded) {
            write(pair.client, exchange.id);
        }
    }

    private void write(Side side, int id) {
        int bytes = switch (random.nextInt(3)) {
            case 0 -> random.nextInt(100);
            case 1 -> random.nextInt(20_000);
            default -> random.nextInt(200_000);
        };
        StreamLog log = side.log(id);
        if (log.writtenBytes - log.sentBytes + bytes <= MAX_QUEUED) {
            side.write(id, bytes);
        }
    }

    private void answer(Exchange exchange) {
        if (!mayUse(pair.client, exchange) || exchange.answered) {
            return;
        }
        boolean informational = random.nextInt(4) == 0;
        if (informational && pair.client.session.session.streams.get(exchange.id).heads.size() >= 8) {
            return;
        }
        exchange.answered = !informational;
        exchange.responseEnded = !informational && random.nextInt(4) == 0;
        Http2Headers head = extended(Side.response(informational ? 103 : 200 + random.nextInt(5)));
        exchange.answers.add(head);
        pair.client.session.respond(exchange.id, head, HeadOptions.NONE, informational,
                exchange.responseEnded);
    }

    private void endRequest(Exchange exchange) {
        if (mayUse(pair.server, exchange) && !exchange.requestEnded) {
            exchange.requestEnded = true;
            exchange.requestTrailers = trailers();
            pair.server.session.end(exchange.id, exchange.requestTrailers);
        }
    }

    private void endResponse(Exchange exchange) {
        if (mayUse(pair.client, exchange) && exchange.answered && !exchange.responseEnded) {
            exchange.responseEnded = true;
            exchange.responseTrailers = trailers();
            pair.client.session.end(exchange.id, exchange.responseTrailers);
        }
    }

    private @Nullable Http2Headers trailers() {
        return random.nextInt(3) == 0 ? Side.trailers("t" + random.nextInt(100)) : null;
    }

    private void read(Side side, Exchange exchange) {
        if (!mayUse(side, exchange)) {
            return;
        }
        StreamLog log = side.log(exchange.id);
        switch (random.nextInt(3)) {
            case 0 -> log.stalled = true;
            case 1 -> side.read(log, log.heldBytes == 0 ? 0 : random.nextInt(log.heldBytes + 1));
            default -> side.resume(exchange.id);
        }
    }

    private void reset(Exchange exchange) {
        if (random.nextBoolean() && mayUse(pair.server, exchange)) {
            exchange.serverReset = true;
            pair.server.session.reset(exchange.id, ErrorCode.CANCELLED, 0, 1, "");
        } else if (mayUse(pair.client, exchange)) {
            exchange.clientReset = true;
            pair.client.session.reset(exchange.id, ErrorCode.FAILED, 9, 4, "reset");
        }
    }

    /** Lets everything that is open finish. */
    void finish() {
        pair.drive();
        for (Exchange exchange : exchanges.values()) {
            endRequest(exchange);
            if (mayUse(pair.client, exchange) && !exchange.answered) {
                exchange.answered = true;
                exchange.answers.add(Side.response(204));
                pair.client.session.respond(exchange.id, Side.response(204), HeadOptions.NONE, false, false);
            }
            endResponse(exchange);
        }
        for (Side side : new Side[]{pair.server, pair.client}) {
            exchanges.values().stream().filter(e -> mayUse(side, e)).forEach(e -> side.resume(e.id));
        }
        pair.drive();
    }

    /** Everything arrived as it was sent, and nothing is left. Returns how many exchanges went through whole. */
    int verify() {
        pair.assertIdle();
        int whole = 0;
        for (Exchange exchange : exchanges.values()) {
            StreamLog server = pair.server.log(exchange.id);
            StreamLog client = pair.client.log(exchange.id);
            if (exchange.serverReset || exchange.clientReset) {
                assertThat(server.receivedBytes).isLessThanOrEqualTo(client.writtenBytes);
                assertThat(client.receivedBytes).isLessThanOrEqualTo(server.writtenBytes);
                assertThat(exchange.serverReset || server.isOver()).as("stream %s is gone", exchange.id)
                        .isTrue();
            } else if (server.resetCode() == ErrorCode.REFUSED) {
                // For the accepter a stream counts until it is read; the opener can't see that.
                assertThat(exchange.known).as("stream %s was refused", exchange.id).isFalse();
            } else {
                whole++;
                assertThat(server.closed && client.closed).as("stream %s closed", exchange.id).isTrue();
                assertThat(server.receivedBytes).isEqualTo(client.writtenBytes);
                assertThat(client.receivedBytes).isEqualTo(server.writtenBytes);
                assertThat(server.heads).hasSameSizeAs(exchange.answers);
                assertThat(String.valueOf(server.trailers))
                        .isEqualTo(String.valueOf(exchange.responseTrailers));
                assertThat(String.valueOf(client.trailers))
                        .isEqualTo(String.valueOf(exchange.requestTrailers));
            }
        }
        return whole;
    }
}
