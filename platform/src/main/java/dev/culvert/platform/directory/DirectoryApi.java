package dev.culvert.platform.directory;

import dev.culvert.edge.AuditTrail;
import dev.culvert.edge.spi.EdgeHandler;
import dev.culvert.edge.spi.EdgeRequest;
import dev.culvert.edge.spi.EdgeResponse;
import dev.culvert.edge.spi.HandlerException;
import dev.culvert.edge.spi.HandlerException.Reason;
import dev.culvert.edge.sqlite.StoreException;
import io.netty.handler.codec.http.HttpMethod;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** The REST calls: finds the one that is meant, proves who calls, and writes the audit record of what changes something. */
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
        List<Call> there = calls.stream().filter(call -> call.match(path) != null).toList();
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
        return keys.holder(request.headers())
                .flatMap(holder -> {
                    Mono<EdgeResponse> work = keys.admit(call.who(), holder, request)
                            .flatMap(account -> call.work()
                                    .answer(new Scope(holder, account, request,
                                            segments(call, request))))
                            .onErrorMap(StoreException.class, DirectoryApi::told)
                            .cast(EdgeResponse.class);
                    return call.changes() ? audited(request, holder, work) : work;
                });
    }

    private static Map<String, String> segments(Call call, EdgeRequest request) {
        Map<String, String> segments = call.match(request.path());
        return segments == null ? Map.of() : segments;
    }

    private Mono<EdgeResponse> audited(EdgeRequest request, Holder holder, Mono<EdgeResponse> work) {
        return work
                .flatMap(answer -> audit.write(entry(request, holder, AuditTrail.Decision.ALLOWED, null))
                        .thenReturn(answer))
                .onErrorResume(HandlerException.class, failed -> {
                    boolean denied = failed.reason() == Reason.FORBIDDEN;
                    var decision = denied ? AuditTrail.Decision.DENIED : AuditTrail.Decision.FAILED;
                    return audit.write(entry(request, holder, decision, failed.detail()))
                            .then(Mono.error(failed));
                });
    }

    private static AuditTrail.Entry entry(EdgeRequest request, Holder holder, AuditTrail.Decision decision,
            @Nullable String reason) {
        return new AuditTrail.Entry(holder.name(), holder.account(), request.method().name(), "directory",
                request.path(), decision, request.context().requestId(), reason);
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
