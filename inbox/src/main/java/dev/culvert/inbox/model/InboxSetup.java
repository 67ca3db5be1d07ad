package dev.culvert.inbox.model;

import io.micrometer.core.instrument.MeterRegistry;
import io.netty.channel.EventLoopGroup;
import java.nio.file.Path;
import java.time.Clock;

/**
 * The components of an inbox.
 *
 * @param folder the folder of the database and the large bodies; created if absent
 * @param delivery the routes to the event sources
 * @param loops the event loops of attempts without a waiting caller
 * @param meters the registry of its metrics
 * @param clock the clock of the stored times
 */
public record InboxSetup(Path folder, InboxConfig config, Delivery delivery, EventLoopGroup loops,
        MeterRegistry meters,
        Clock clock) {}
