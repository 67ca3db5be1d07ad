package dev.culvert.platform.directory;

import dev.culvert.handlers.spi.EdgeHandler;
import dev.culvert.handlers.spi.EdgeRequest;
import dev.culvert.handlers.spi.EdgeResponse;
import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.handlers.spi.HandlerException.Reason;
import dev.culvert.http.observe.AuditTrail;
import dev.culvert.platform.directory.store.KeyOwner;
import dev.culvert.store.StoreException;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpMethod;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * Serves the REST calls: finds the call, authenticates the caller, and writes the audit records of changes.
 */
final class DirectoryApi implements EdgeHandler {
    private static final Duration RETRY = Duration.ofSeconds(1);

    private final List<Call> calls;
    private final KeyCheck keys;
    private final AuditTrail audit;

    DirectoryApi(List<Call> calls, KeyCheck keys, AuditTrail audit) {
        this.calls = List.copyOf(calls);
        this.keys = keys;
        this.audit = audit;
    }

    @Override
    public Mono<EdgeResponse> handle(EdgeRequest request) {
        String path = request.path();
        List<Call> there = calls.stream().filter(call -> call.template().match(path) != null).toList();
        if (there.isEmpty()) {
            return Mono.error(HandlerException.of(Reason.NOT_FOUND, "there is nothing at this path"));
        }
        return there.stream()
                .filter(call -> call.method().equals(request.method()))
                .findFirst()
                .map(call -> answer(call, request))
                .orElseGet(() -> Mono.error(HandlerException.methodNotAllowed(
                        there.stream().map(Call::method).toArray(HttpMethod[]::new))));
    }

    private Mono<EdgeResponse> answer(Call call, EdgeRequest request) {
        return keys.holder(request)
                .flatMap(holder -> {
                    var place = new AtomicReference<>(holder.account());
                    Mono<EdgeResponse> work = keys.admit(call.who(), holder, request)
                            .doOnNext(place::set)
                            .flatMap(account -> call.work()
                                    .answer(new Scope(holder, account, request,
                                            segments(call, request))))
                            .onErrorMap(StoreException.class, DirectoryApi::told)
                            .cast(EdgeResponse.class);
                    return call.changes() ? audited(request, holder, place, work) : work;
                });
    }

    private static Map<String, String> segments(Call call, EdgeRequest request) {
        Map<String, String> segments = call.template().match(request.path());
        return segments == null ? Map.of() : segments;
    }

    /** Writes one record, however the call ends, also when the caller disconnects at once. */
    private Mono<EdgeResponse> audited(EdgeRequest request, KeyOwner holder, AtomicReference<String> place,
            Mono<EdgeResponse> work) {
        var object = new AtomicReference<>(request.path());
        Records records = (decision, reason) -> audit.write(new AuditTrail.Entry(holder.name(), place.get(),
                request.method().name(), "directory", object.get(), decision, request.context().requestId(),
                null, reason));
        return Mono.usingWhen(Mono.just(records),
                same -> work.doOnNext(answer -> made(answer).ifPresent(object::set)),
                done -> done.write(AuditTrail.Decision.ALLOWED, null),
                (same, failed) -> failed instanceof HandlerException told
                        ? same.write(told.reason() == Reason.FORBIDDEN
                                ? AuditTrail.Decision.DENIED
                                : AuditTrail.Decision.FAILED, told.detail())
                        : same.write(AuditTrail.Decision.FAILED, "it failed"),
                left -> left.write(AuditTrail.Decision.FAILED, "the caller left; it may have happened"));
    }

    /** Writes the record of one call. */
    @FunctionalInterface
    private interface Records {
        Mono<Void> write(AuditTrail.Decision decision, @Nullable String reason);
    }

    /** The path of the object that a call created. */
    private static Optional<String> made(EdgeResponse answer) {
        return answer instanceof EdgeResponse.Http http
                ? Optional.ofNullable(http.headers().get(HttpHeaderNames.LOCATION))
                : Optional.empty();
    }

    static HandlerException told(StoreException failed) {
        return switch (failed) {
            case StoreException.Conflict taken -> HandlerException.of(Reason.CONFLICT, message(taken));
            case StoreException.Full full -> HandlerException.of(Reason.CONFLICT, message(full));
            case StoreException.Absent absent -> HandlerException.of(Reason.NOT_FOUND, message(absent));
            case StoreException.Busy busy ->
                HandlerException.of(Reason.OVERLOADED, message(busy)).retryAfter(RETRY);
            case StoreException.Held held ->
                HandlerException.of(Reason.UNAVAILABLE, "the database is another process's")
                        .retryAfter(RETRY);
            case StoreException.Failed broken ->
                HandlerException.of(Reason.UNAVAILABLE, "the database can't be used").retryAfter(RETRY);
            default -> HandlerException.of(Reason.UNAVAILABLE, "the database can't be used");
        };
    }

    private static String message(StoreException failed) {
        return String.valueOf(failed.getMessage());
    }
}
