package dev.culvert.server.admin;

import dev.culvert.handlers.spi.RequestContext;
import dev.culvert.server.runtime.Uncancellable;
import dev.culvert.server.store.AuditEntry;
import dev.culvert.server.store.AuditMark;
import dev.culvert.server.store.AuditStore;
import dev.culvert.store.TransactionPart;
import java.time.Clock;
import java.time.temporal.ChronoUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;

/** Who changed what, when: an entry of the store, and a line of the logger {@code audit}, for each change through the admin API. */
final class AdminAudit {
    private static final Logger log = LoggerFactory.getLogger(AdminAudit.class);

    private final AuditStore store;
    private final Clock clock;

    AdminAudit(AuditStore store, Clock clock) {
        this.store = store;
        this.clock = clock;
    }

    /**
     * Makes a change and notes it: in the change's own transaction where it has one, right after it otherwise. A change that
     * fails leaves no entry, one whose caller has gone meanwhile is made and noted all the same; one that only touches sessions is made even when its entry can't be kept, which is logged.
     *
     * @param what the kind of change, fixed text: {@code runtime created}
     * @param thing what is changed
     */
    <T> Mono<T> noted(RequestContext who, String what, Object thing, Mono<T> change) {
        return Mono.defer(() -> {
            var mark = new AuditMark(entry(who, what, thing));
            return Uncancellable.of(change.doOnNext(done -> {
                keep(mark);
                mark.entry().entry().log(mark.entry().time());
            })
                    .contextWrite(context -> context.put(TransactionPart.class, mark)));
        });
    }

    /** Queues the entry of a change that was no transaction. Nobody waits: sessions end no later for it. */
    private void keep(AuditMark mark) {
        if (!mark.isWritten()) {
            store.add(mark.entry())
                    .subscribe(nothing -> {}, failed -> log.atWarn()
                            .addKeyValue("action", mark.entry().action())
                            .addKeyValue("reason", failed.getMessage())
                            .log("audit entry not kept"));
        }
    }

    private AuditEntry entry(RequestContext who, String what, Object thing) {
        var caller = who.caller();
        return new AuditEntry(clock.instant().truncatedTo(ChronoUnit.MILLIS),
                caller == null ? "unknown" : caller.getName(), remote(who), who.requestId(), what,
                thing.toString());
    }

    /** Without the slash that Java writes in front of an address without a name. */
    private static String remote(RequestContext who) {
        String remote = who.remote().toString();
        return remote.startsWith("/") ? remote.substring(1) : remote;
    }
}
