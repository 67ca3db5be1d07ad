package dev.culvert.server;

import dev.culvert.edge.spi.RequestContext;
import java.time.Clock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Who changed what, when: one line of the logger {@code audit} for each change through the admin API. */
final class AuditLog {
    private static final Logger log = LoggerFactory.getLogger("audit");

    private final Clock clock;

    AuditLog(Clock clock) {
        this.clock = clock;
    }

    /**
     * Notes a change that was made.
     *
     * @param what the kind of change, fixed text: {@code runtime created}
     * @param thing what was changed
     */
    void changed(RequestContext who, String what, Object thing) {
        var caller = who.caller();
        log.atInfo()
                .addKeyValue("when", clock.instant())
                .addKeyValue("who", caller == null ? "unknown" : caller.getName())
                .addKeyValue("remote", who.remote())
                .addKeyValue("requestId", who.requestId())
                .addKeyValue("what", what)
                .addKeyValue("thing", thing)
                .log(what);
    }
}
