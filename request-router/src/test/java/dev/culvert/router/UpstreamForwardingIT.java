package dev.culvert.router;

import static dev.culvert.router.RawUpstream.head;
import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.edge.EventLoops;
import dev.culvert.router.RawUpstream.Peer;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class UpstreamForwardingIT {
    private final EventLoops loops = EventLoops.create(1);
    private final RawUpstream upstream = new RawUpstream();
    private final SingleUpstream relay = SingleUpstream.create(upstream.uri(),
            limits(Duration.ofSeconds(20)));

    @AfterEach
    void everythingIsGivenBack() {
        relay.close();
        Leaks.assertNothingBuffered(relay::bufferedBytes, relay::openConnections);
        upstream.close();
        loops.dispose();
    }

    static UpstreamLimits limits(Duration headTimeout) {
        return new UpstreamLimits(8, 4, 2, 2, Duration.ofSeconds(2), headTimeout, Duration.ofSeconds(20));
    }

    private Asker asker() {
        return new Asker(relay, loops.group().next());
    }

    @Test
    void aRequestWithoutBodyAndItsResponseCross() {
        Asker asker = asker().get("/a/b?c=d", "accept", "text/plain", "x-a", "1", "x-a", "2");
        Peer peer = upstream.accept();

        String head = peer.readHead();
        peer.write(
                head("HTTP/1.1 200 OK", "Content-Type: text/plain", "X-B: 1", "x-b: 2", "Content-Length: 5")
                        + "hello");

        asker.awaitEnd();
        assertThat(head).isEqualTo(
                head("GET /a/b?c=d HTTP/1.1", "host: caller.example", "accept: text/plain", "x-a: 1",
                        "x-a: 2"));
        assertThat(asker.status()).isEqualTo("200");
        assertThat(asker.fields("x-b")).containsExactly("1", "2");
        assertThat(asker.field("content-length")).isEqualTo("5");
        assertThat(asker.body()).isEqualTo("hello");
    }
}
