package dev.culvert.server;

import static dev.culvert.relay.testing.Results.await;

import dev.culvert.http.net.EventLoops;
import dev.culvert.inbox.Inbox;
import dev.culvert.inbox.model.Delivery;
import dev.culvert.inbox.model.InboxConfig;
import dev.culvert.inbox.model.InboxSetup;
import dev.culvert.relay.Relay;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.nio.file.Path;
import java.time.Clock;

/** An inbox in a folder of the test, whose runtimes are never there. */
public final class TestInbox {
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

    public static Inbox open(Path folder, EventLoops loops) {
        return await(Inbox.open(new InboxSetup(folder, InboxConfig.defaults(), NOWHERE, loops.group(),
                new SimpleMeterRegistry(), Clock.systemUTC())));
    }
}
