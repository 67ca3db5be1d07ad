package dev.culvert.handlers.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.embedded.EmbeddedChannel;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class ConnectionsTest {
    @Test
    void aConnectionAcceptedWhileDrainingIsClosedAtOnce() {
        var connections = new Connections();
        connections.enter();
        var stopped = connections.drain(Duration.ofMinutes(1)).toFuture();
        var late = new EmbeddedChannel();

        connections.opened(late);
        late.runPendingTasks();

        assertThat(late.isOpen()).isFalse();
        assertThat(stopped).isNotDone();
        connections.leave();
        stopped.join();
    }
}
