package dev.culvert.inbox.model;

import io.micrometer.core.instrument.MeterRegistry;
import io.netty.channel.EventLoopGroup;
import java.nio.file.Path;
import java.time.Clock;

/**
 * What an inbox is made of.
 *
 * @param folder of its database and its large bodies; made when absent
 * @param delivery where webhooks go
 * @param loops where attempts live that have no caller who waits
 * @param meters what it is observed by
 * @param clock of the times that are stored
 */
public record InboxSetup(Path folder, InboxConfig config, Delivery delivery, EventLoopGroup loops,
        MeterRegistry meters,
        Clock clock) {}
