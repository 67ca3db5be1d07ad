package dev.culvert.handlers.host;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import dev.culvert.config.HostPort;
import dev.culvert.handlers.server.EdgeServer;
import dev.culvert.handlers.spi.EdgeRequest;
import dev.culvert.handlers.spi.HandlerLimits;
import dev.culvert.handlers.spi.RequestContext;
import dev.culvert.handlers.spi.TestHandlers;
import dev.culvert.http.net.EventLoops;
import io.netty.handler.codec.http.DefaultHttpHeaders;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpMethod;
import java.net.InetSocketAddress;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;

class RemoteHandlerIT {
    private static final Duration TIME = Duration.ofMinutes(1);

    private final EventLoops loops = EventLoops.create();
    private final List<HttpHeaders> received = new CopyOnWriteArrayList<>();
    private EdgeServer remote;

    @BeforeEach
    void start() {
        remote = Objects.requireNonNull(EdgeServer
                .start(EdgeServer.Setup.of(new HostPort("127.0.0.1", 0), loops), request -> {
                    received.add(request.headers().copy());
                    return TestHandlers.ok();
                })
                .block(TIME));
    }

    @AfterEach
    void stop() {
        remote.stop(Duration.ZERO).block(TIME);
        loops.disposeLater(Duration.ZERO, Duration.ofSeconds(1)).block(TIME);
    }

    @Test
    void aCallersKeyStaysHereUnlessTheOperatorPassesIt() {
        call(false);
        call(true);

        assertThat(received)
                .extracting(fields -> fields.get("authorization"), fields -> fields.get("x-access-token"),
                        fields -> fields.get("x-other"))
                .containsExactly(tuple(null, null, "kept"),
                        tuple("Bearer secret", "secret", "kept"));
    }

    private void call(boolean credentials) {
        var handler = new RemoteHandler("far", "/far/", URI.create("http://" + remote.address()),
                HandlerLimits.defaults(), credentials, loops);
        var fields = new DefaultHttpHeaders().add("host", "a.test")
                .add("Authorization", "Bearer secret")
                .add("X-Access-Token", "secret")
                .add("x-other", "kept");
        handler.handle(new EdgeRequest(HttpMethod.GET, "/far/x", fields, Flux.empty(),
                RequestContext.of("r", InetSocketAddress.createUnresolved("127.0.0.1", 1)))).block(TIME);
        handler.stop(Duration.ZERO).block(TIME);
    }
}
