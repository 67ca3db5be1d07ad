package dev.culvert.platform.host.rest;

import dev.culvert.handlers.spi.EdgeHandler;
import dev.culvert.handlers.spi.EdgeRequest;
import dev.culvert.handlers.spi.EdgeResponse;
import dev.culvert.handlers.spi.HandlerContext;
import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.handlers.spi.HandlerException.Reason;
import dev.culvert.http.observe.AuditTrail;
import dev.culvert.http.observe.LinePace;
import dev.culvert.platform.host.rest.RestCall.Who;
import dev.culvert.platform.host.spi.Callers;
import dev.culvert.platform.host.spi.Decisions;
import dev.culvert.platform.host.spi.PlatformCaller;
import dev.culvert.store.StoreException;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.QueryStringDecoder;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * Serves a module's REST calls: finds the call, authenticates and authorises the caller, and writes the audit
 * records of changes.
 */
public final class RestApi implements EdgeHandler {
    private final String module;
    private final List<RestCall> calls;
    private final Callers callers;
    private final @Nullable Decisions decisions;
    private final AuditTrail audit;
    private final FailurePace failures = new FailurePace();
    private final LinePace strangers = new LinePace(Duration.ofSeconds(10));
    private final LinePace known = new LinePace(Duration.ofSeconds(1));

    /**
     * @param module the entity of audit records
     * @param decisions what decides about members; null: no call is for them
     * @param audit where changes are recorded
     */
    public RestApi(String module, List<RestCall> calls, Callers callers, @Nullable Decisions decisions,
            AuditTrail audit) {
        this.module = module;
        this.calls = List.copyOf(calls);
        this.callers = callers;
        this.decisions = decisions;
        this.audit = audit;
    }

    /** The API of a module, listed in {@code /openapi.json}. Called by its {@code create}. */
    public static RestApi of(String module, HandlerContext context, List<RestCall> calls) {
        context.service(ApiDocument.class).add(module, calls);
        boolean hasMembers = calls.stream().anyMatch(call -> call.who() == Who.MEMBER);
        return new RestApi(module, calls, context.service(Callers.class),
                hasMembers ? context.service(Decisions.class) : null, context.service(AuditTrail.class));
    }

    @Override
    public Mono<EdgeResponse> handle(EdgeRequest request) {
        String path = request.path();
        List<RestCall> there = calls.stream().filter(call -> call.template().match(path) != null).toList();
        if (there.isEmpty()) {
            return Mono.error(HandlerException.of(Reason.NOT_FOUND, "there is nothing at this path"));
        }
        return there.stream()
                .filter(call -> call.method().equals(request.method()))
                .findFirst()
                .map(call -> answer(call, request))
                .orElseGet(() -> Mono.error(HandlerException.methodNotAllowed(
                        there.stream().map(RestCall::method).toArray(HttpMethod[]::new))));
    }

    private Mono<EdgeResponse> answer(RestCall call, EdgeRequest request) {
        return call.who() == Who.ANYONE
                ? ofAnyone(call, request)
                        .onErrorResume(HandlerException.class, why -> denied(request, null, why))
                : callers.caller(request.headers(), request.context())
                        .onErrorResume(HandlerException.class, why -> denied(request, null, why))
                        .flatMap(caller -> ofCaller(call, request, caller));
    }

    private Mono<EdgeResponse> ofAnyone(RestCall call, EdgeRequest request) {
        return Mono.defer(() -> {
            CallQuery query = CallQuery.of(call, request.query());
            return call.work()
                    .answer(new CallScope(call, null, "", request, query.isForced(), content -> {},
                            segments(call, request), query.values(), failures))
                    .cast(EdgeResponse.class);
        }).onErrorMap(StoreException.class, StoreRefusal::told);
    }

    private Mono<EdgeResponse> ofCaller(RestCall call, EdgeRequest request, PlatformCaller caller) {
        var place = new AtomicReference<>(caller.account());
        var content = new AtomicReference<>("");
        Mono<EdgeResponse> work = Mono.defer(() -> {
            requireAllowed(call.who(), caller);
            CallQuery query = CallQuery.of(call, request.query());
            return account(caller, query)
                    .doOnNext(place::set)
                    .flatMap(account -> requireRight(call, request, caller, account).thenReturn(account))
                    .flatMap(account -> Idempotency.once(call, request, caller, account,
                            same -> call.work()
                                    .answer(new CallScope(call, caller, account, same, query.isForced(),
                                            content::set, segments(call, request), query.values(),
                                            failures))
                                    .cast(EdgeResponse.class)));
        }).onErrorMap(StoreException.class, StoreRefusal::told);
        return call.changes()
                ? audited(request, caller, place, content, work)
                : work.onErrorResume(HandlerException.class, why -> denied(request, caller, why));
    }

    /** Operators may do anything in an account that they name. Errors: HandlerException FORBIDDEN. */
    private Mono<Void> requireRight(RestCall call, EdgeRequest request, PlatformCaller caller,
            String account) {
        Right right = call.right();
        if (right == null || decisions == null || !account.equals(caller.account())) {
            return Mono.empty();
        }
        return decisions.require(caller, right.entity(), right.action(), right.of(segments(call, request)));
    }

    /**
     * Records a refusal for a missing or wrong credential, or of a read, and fails with it. Callers without a
     * valid credential can't fill the log: of theirs one is recorded in 10 s, with the number of those since
     * the record before; of the others one in a second.
     */
    private <T> Mono<T> denied(EdgeRequest request, @Nullable PlatformCaller caller, HandlerException why) {
        if (why.reason() != Reason.UNAUTHORIZED && why.reason() != Reason.FORBIDDEN) {
            return Mono.error(why);
        }
        long since = (caller == null ? strangers : known).add();
        if (since == 0) {
            return Mono.error(why);
        }
        return audit.write(new AuditTrail.Entry(caller == null ? "" : caller.getName(),
                caller == null ? null : caller.account(), request.method().name(), module, request.path(),
                AuditTrail.Decision.DENIED, request.context().requestId(), null,
                why.detail() + (since > 1 ? "; refused since the last record: " + since : "")))
                .then(Mono.error(why));
    }

    private static Map<String, String> segments(RestCall call, EdgeRequest request) {
        Map<String, String> decoded = new HashMap<>();
        Map<String, String> segments = call.template().match(request.path());
        if (segments != null) {
            segments.forEach((name, raw) -> decoded.put(name,
                    QueryStringDecoder.decodeComponent(raw.replace("+", "%2B"))));
        }
        return decoded;
    }

    /** Throws HandlerException FORBIDDEN. */
    private static void requireAllowed(Who who, PlatformCaller caller) {
        boolean may = switch (who) {
            case ANYONE, HOLDER -> true;
            case MEMBER -> caller.userId() != null;
            case ADMIN -> caller.isAdmin();
            case OPERATOR -> caller.isOperator();
            case RUNTIME -> caller.runtime() != null;
        };
        if (!may) {
            throw HandlerException.of(Reason.FORBIDDEN, switch (who) {
                case RUNTIME -> "only a runtime's key may ask this";
                case MEMBER -> "only users may do this";
                case OPERATOR -> "only the control plane's operators may do this";
                default -> "only administrators of the account may do this";
            });
        }
    }

    /** The account of the call. Errors: HandlerException NOT_FOUND, BAD_REQUEST. */
    private Mono<String> account(PlatformCaller caller, CallQuery query) {
        String named = query.account();
        return named == null ? Mono.just(caller.account()) : callers.account(caller, named);
    }

    /** Writes one record, however the call ends, also when the caller disconnects at once. */
    private Mono<EdgeResponse> audited(EdgeRequest request, PlatformCaller caller,
            AtomicReference<String> place, AtomicReference<String> content, Mono<EdgeResponse> work) {
        var object = new AtomicReference<>(request.path());
        Records records = (decision, reason) -> audit.write(new AuditTrail.Entry(caller.getName(),
                place.get(), request.method().name(), module, object.get() + content.get(), decision,
                request.context().requestId(), null, reason));
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
}
