package dev.culvert.platform.runtimes;

import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.handlers.spi.RequestContext;
import dev.culvert.http.observe.AuditTrail;
import dev.culvert.http.observe.AuditTrail.Decision;
import dev.culvert.platform.host.spi.PlatformCaller;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** Writes one record of a change, however it ends. */
final class AuditedChange {
    private AuditedChange() {}

    /** The change with its record. Errors: those of the change. */
    static <T> Mono<T> of(AuditTrail audit, RequestContext context, PlatformCaller caller, String action,
            String object, Mono<T> change) {
        Records records = (decision, reason) -> audit.write(new AuditTrail.Entry(caller.getName(),
                caller.account(), action, RuntimesProvider.NAME, object, decision, context.requestId(), null,
                reason));
        return Mono.usingWhen(Mono.just(records), same -> change,
                done -> done.write(Decision.ALLOWED, null),
                (same, failed) -> failed instanceof HandlerException told
                        ? same.write(told.reason() == HandlerException.Reason.FORBIDDEN
                                ? Decision.DENIED
                                : Decision.FAILED, told.detail())
                        : same.write(Decision.FAILED, "it failed"),
                left -> left.write(Decision.FAILED, "the caller left; it may have happened"));
    }

    /** Writes the record of one change. */
    @FunctionalInterface
    private interface Records {
        Mono<Void> write(Decision decision, @Nullable String reason);
    }
}
