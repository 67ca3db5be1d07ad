package dev.culvert.admin;

import dev.culvert.handlers.spi.EdgeRequest;
import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.handlers.spi.HandlerException.Reason;
import dev.culvert.http.observe.AuditTrail;
import dev.culvert.http.observe.AuditTrail.Decision;
import dev.culvert.http.observe.LinePace;
import java.time.Duration;
import java.util.function.Consumer;

/**
 * Records the calls of an admin API that are refused for their token or its role, reads included. Callers
 * without a valid token can't fill the log: of theirs one is recorded in 10 s, with the number of those since
 * the record before; of the others one in a second. Safe for use by any thread.
 */
public final class RefusedCalls {
    private static final Duration OF_STRANGERS = Duration.ofSeconds(10);
    private static final Duration OF_KNOWN = Duration.ofSeconds(1);

    private final String entity;
    private final Consumer<AuditTrail.Entry> log;
    private final LinePace strangers = new LinePace(OF_STRANGERS);
    private final LinePace known = new LinePace(OF_KNOWN);

    /**
     * @param entity the part that is called: {@code server}
     * @param log writes a record; must not block
     */
    public RefusedCalls(String entity, Consumer<AuditTrail.Entry> log) {
        this.entity = entity;
        this.log = log;
    }

    /** Records a refusal, if it is one for the token or its role. */
    void refused(EdgeRequest request, HandlerException why) {
        if (why.reason() != Reason.UNAUTHORIZED && why.reason() != Reason.FORBIDDEN) {
            return;
        }
        var who = request.context();
        long since = (who.caller() == null ? strangers : known).add();
        if (since > 0) {
            String reason = why.detail() + (since > 1 ? "; refused since the last record: " + since : "");
            log.accept(new AuditTrail.Entry(who.caller() == null ? "" : ChangeAudit.user(who), null,
                    request.method().name(), entity, request.path(), Decision.DENIED, who.requestId(),
                    ChangeAudit.address(who), reason));
        }
    }
}
