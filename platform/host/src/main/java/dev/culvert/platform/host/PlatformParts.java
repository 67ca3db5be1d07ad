package dev.culvert.platform.host;

import dev.culvert.http.net.EventLoops;
import dev.culvert.http.observe.AuditTrail;
import dev.culvert.http.observe.Telemetry;
import dev.culvert.platform.host.rest.ApiDocument;
import dev.culvert.platform.host.store.EndingAccounts;
import dev.culvert.platform.host.store.EndingRuntimes;
import dev.culvert.platform.host.store.EventFeed;
import dev.culvert.platform.host.store.OutboxLimits;
import dev.culvert.platform.host.store.OutboxSender;
import dev.culvert.platform.host.store.PlatformStore;
import dev.culvert.platform.host.store.TurnKeeper;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Clock;
import java.time.Duration;
import reactor.core.publisher.Mono;

/** What modules share, with the lifetime of the control plane. */
record PlatformParts(ControlPlaneConfig config, PlatformModules modules, PlatformStore store,
        EventFeed events, OutboxSender outbox, TurnKeeper turns, EndingAccounts accountEnds,
        EndingRuntimes runtimeEnds,
        AuditTrail audit,
        ApiDocument document, EventLoops loops, Telemetry telemetry) {
    /** The number of events that the change feed keeps. */
    private static final int MAX_EVENTS = 10_000;

    /** Takes over {@code store}. */
    static PlatformParts of(ControlPlaneConfig config, PlatformModules modules, PlatformStore store) {
        var telemetry = new Telemetry();
        var outbox = new OutboxSender(store, OutboxLimits.defaults(), Clock.systemUTC(),
                telemetry.registry());
        var accountEnds = new EndingAccounts();
        accountEnds.add(outbox::accountEnded);
        return new PlatformParts(config, modules, store, new EventFeed(store, MAX_EVENTS), outbox,
                new TurnKeeper(store, process()), accountEnds, new EndingRuntimes(),
                AuditTrail.in(config.dataDir(), Clock.systemUTC(), process()), new ApiDocument(),
                EventLoops.create(), telemetry);
    }

    /** Names this process among those that use the same database. */
    private static String process() {
        String host;
        try {
            host = InetAddress.getLocalHost().getHostName();
        } catch (UnknownHostException e) {
            host = "unknown";
        }
        return host + ":" + ProcessHandle.current().pid();
    }

    /** Ends deliveries, then writes what waits and closes everything. */
    Mono<Void> free(Duration grace) {
        return turns.stop()
                .then(outbox.stop())
                .then(audit.close())
                .then(Mono.<Void>fromRunnable(telemetry::close))
                .then(loops.disposeLater(Duration.ZERO, grace))
                .then(store.close());
    }
}
