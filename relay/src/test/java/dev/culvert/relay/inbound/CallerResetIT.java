package dev.culvert.relay.inbound;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import dev.culvert.relay.testing.EdgeFixture;
import dev.culvert.relay.testing.FrameCaller;
import dev.culvert.relay.testing.TlsCaller;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

/** A caller that resets its connection leaves no line in the log: strangers could fill it. */
class CallerResetIT {
    private static final Logger PIPELINE = (Logger) LoggerFactory
            .getLogger("io.netty.channel.DefaultChannelPipeline");

    private final ListAppender<ILoggingEvent> log = new ListAppender<>();
    private final EdgeFixture edge = new EdgeFixture();

    @BeforeEach
    void listen() {
        log.start();
        PIPELINE.addAppender(log);
    }

    @AfterEach
    void close() {
        PIPELINE.detachAppender(log);
        edge.close();
    }

    private void assertQuiet() {
        await().until(() -> edge.listener.connections() == 0);
        assertThat(List.copyOf(log.list)).filteredOn(event -> event.getLevel().isGreaterOrEqual(Level.WARN))
                .isEmpty();
    }

    @Test
    void overHttp2() throws Exception {
        FrameCaller caller = edge.http2();
        caller.get(1, "/");
        edge.relay.next();

        caller.reset();

        assertQuiet();
    }

    @Test
    void overHttp2BetweenRequests() {
        edge.http2().reset();

        assertQuiet();
    }

    @Test
    void overHttp1() throws Exception {
        TlsCaller caller = edge.caller().get("/");
        edge.relay.next();

        caller.reset();

        assertQuiet();
    }

    @Test
    void beforeTheHandshake() {
        TlsCaller caller = edge.caller();
        await().until(() -> edge.listener.connections() == 1);

        caller.reset();

        assertQuiet();
    }
}
