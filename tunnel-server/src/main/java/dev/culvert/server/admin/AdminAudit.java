package dev.culvert.server.admin;

import dev.culvert.admin.ChangeAudit;
import dev.culvert.handlers.spi.RequestContext;
import dev.culvert.server.store.AuditEntry;
import dev.culvert.server.store.AuditMark;
import dev.culvert.server.store.AuditStore;
import dev.culvert.store.TransactionPart;
import dev.culvert.store.Uncancellable;
import java.time.Clock;
import java.time.temporal.ChronoUnit;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;

/**
 * Records each change through the admin API, with user, object and time: an entry in the store, and a line of
 * the logger {@code audit}.
 */
final class AdminAudit implements ChangeAudit {
    private static final Logger log = LoggerFactory.getLogger(AdminAudit.class);

    private final AuditStore store;
    private final Clock clock;

    AdminAudit(AuditStore store, Clock clock) {
        this.store = store;
        this.clock = clock;
    }

    /**
     * Makes a change and records it: in the change's own transaction if it has one, otherwise right after it.
     * A failed change leaves no entry. A change whose caller disconnects meanwhile is made and recorded all
     * the same. A change that only affects sessions is made even if its entry can't be stored, which is
     * logged.
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

    @Override
    public <T> Mono<T> changed(RequestContext who, String what, Function<T, String> thing, Mono<T> change) {
        return Uncancellable.of(change.doOnNext(done -> {
            var mark = new AuditMark(entry(who, what, thing.apply(done)));
            keep(mark);
            mark.entry().entry().log(mark.entry().time());
        }));
    }

    /** Queues the entry of a change without a transaction. Does not wait, so sessions end without delay. */
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
        return new AuditEntry(clock.instant().truncatedTo(ChronoUnit.MILLIS), ChangeAudit.user(who),
                ChangeAudit.address(who), who.requestId(), what, thing.toString());
    }
}
