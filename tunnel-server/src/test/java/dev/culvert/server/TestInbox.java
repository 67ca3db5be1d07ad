package dev.culvert.server;

import static dev.culvert.edge.testing.Results.await;

import dev.culvert.edge.EventLoops;
import dev.culvert.edge.relay.Relay;
import dev.culvert.inbox.Delivery;
import dev.culvert.inbox.Inbox;
import dev.culvert.inbox.InboxConfig;
import dev.culvert.inbox.InboxSetup;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.nio.file.Path;
import java.time.Clock;

/** An inbox in a folder of the test, whose runtimes are never there. */
final class TestInbox {
    private static final Delivery NOWHERE = new Delivery() {
        @Override
        public Relay relayTo(String runtimeId) {
            throw new IllegalStateException("nothing is delivered here");
        }

        @Override
        public boolean isReachable(String runtimeId) {
            return false;
        }
    };

    private TestInbox() {}

    static Inbox open(Path folder, EventLoops loops) {
        return await(Inbox.open(new InboxSetup(folder, InboxConfig.defaults(), NOWHERE, loops.group(),
                new SimpleMeterRegistry(), Clock.systemUTC())));
    }
}
