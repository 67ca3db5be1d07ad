package dev.culvert.server.admin;

import dev.culvert.admin.AdminCaller;
import dev.culvert.admin.AdminRole;
import dev.culvert.admin.AdminRoute;
import dev.culvert.admin.JsonAnswer;
import dev.culvert.handlers.rest.JsonFields;
import dev.culvert.handlers.spi.EdgeRequest;
import dev.culvert.handlers.spi.EdgeResponse;
import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.handlers.spi.HandlerException.Reason;
import dev.culvert.inbox.StoredWebhooks;
import dev.culvert.inbox.model.InboxQuery;
import dev.culvert.inbox.model.WebhookState;
import dev.culvert.server.runtime.EnrolmentCredential;
import dev.culvert.server.runtime.InvalidNameException;
import dev.culvert.server.runtime.RegisteredRuntime;
import dev.culvert.server.runtime.RuntimeName;
import dev.culvert.server.runtime.RuntimeOrigin;
import dev.culvert.server.runtime.RuntimeRegistrar;
import dev.culvert.server.runtime.RuntimeScope;
import dev.culvert.server.runtime.RuntimeStore;
import dev.culvert.server.runtime.RuntimeUpstream;
import dev.culvert.server.runtime.SessionView;
import dev.culvert.server.runtime.TunnelDirectory;
import dev.culvert.server.tunnel.ServerEvent;
import dev.culvert.server.tunnel.ServerEvents;
import dev.culvert.store.StoreException;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpResponseStatus;
import java.time.Clock;
import java.time.Duration;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/** The calls below {@code /api/v1/runtimes}. */
final class RuntimeCalls {
    static final String ALL = "/api/v1/runtimes";
    static final String ONE = "/api/v1/runtimes/{account}/{name}";
    static final String REVOKE = "/api/v1/runtimes/{account}/{name}/revoke";
    static final String TOKENS = "/api/v1/runtimes/{account}/{name}/enrolment-tokens";

    private static final Duration RETRY_WHEN_FULL = Duration.ofSeconds(30);
    private static final int MAX_WITHDRAWN = 1000;

    private final RuntimeStore store;
    private final RuntimeRegistrar registrar;
    private final TunnelDirectory tunnels;
    private final ServerEvents events;
    private final StoredWebhooks webhooks;
    private final Clock clock;
    private final AdminAudit audit;
    /** Identities of the runtimes that were cut off last: a registrar's next try leaves them as they are. */
    private final Set<String> withdrawn = Collections.synchronizedSet(
            Collections.newSetFromMap(new LinkedHashMap<>() {
                private static final long serialVersionUID = 1L;

                @Override
                protected boolean removeEldestEntry(Map.Entry<String, Boolean> eldest) {
                    return size() > MAX_WITHDRAWN;
                }
            }));

    RuntimeCalls(AdminApi.Parts parts, AdminAudit audit) {
        this.store = parts.store();
        this.registrar = parts.registrar();
        this.tunnels = parts.tunnels();
        this.events = parts.events();
        this.webhooks = parts.inbox().webhooks();
        this.clock = parts.clock();
        this.audit = audit;
    }

    List<AdminRoute> routes() {
        return List.of(new AdminRoute(HttpMethod.POST, ALL, (request, segments) -> create(request))
                .forRegistrars(),
                new AdminRoute(HttpMethod.GET, ALL, (request, segments) -> list(request)).forRegistrars(),
                new AdminRoute(HttpMethod.GET, ONE, (request, segments) -> show(name(segments))),
                new AdminRoute(HttpMethod.PATCH, ONE,
                        (request, segments) -> change(request, name(segments))).forRegistrars(),
                new AdminRoute(HttpMethod.DELETE, ONE,
                        (request, segments) -> delete(request, name(segments))).forRegistrars(),
                new AdminRoute(HttpMethod.POST, REVOKE,
                        (request, segments) -> revoke(request, name(segments))),
                new AdminRoute(HttpMethod.POST, TOKENS,
                        (request, segments) -> token(request, name(segments))));
    }

    private Mono<EdgeResponse> create(EdgeRequest request) {
        return request.aggregate(AdminApi.MAX_BODY_BYTES)
                .flatMap(body -> create(request, NewRuntime.read(body, clock.instant())))
                .map(made -> JsonAnswer.of(HttpResponseStatus.CREATED, made));
    }

    private Mono<Record> create(EdgeRequest request, NewRuntime wanted) {
        RuntimeUpstream upstream = wanted.upstream();
        EnrolmentCredential credential = wanted.credential();
        String registrar = scope(request).registrar();
        String thing = wanted.name() + (upstream == null ? "" : ": upstream " + upstream);
        var origin = new RuntimeOrigin(registrar == null ? "" : registrar, wanted.digest());
        Mono<? extends Record> made;
        if (credential != null) {
            made = noted(request, thing,
                    this.registrar.provide(wanted.name(), wanted.hosts(), credential, origin))
                    .map(runtime -> AdminJson.ProvidedRuntimeView.of(runtime, credential));
        } else if (upstream != null) {
            made = noted(request, thing, registrar == null
                    ? this.registrar.register(wanted.name(), wanted.hosts(), upstream)
                    : this.registrar.provide(wanted.name(), wanted.hosts(), upstream, origin))
                    .map(AdminJson.HostedRuntimeView::of);
        } else if (registrar == null) {
            made = noted(request, thing, this.registrar.register(wanted.name(), wanted.hosts()))
                    .map(AdminJson.CreatedRuntimeView::of);
        } else {
            throw new InvalidNameException("enrolment",
                    "missing (expected: it or upstream, as a registrar makes the tokens of its runtimes)");
        }
        made = made.doOnNext(there -> tell(ServerEvent.Kind.CREATED, wanted.name()));
        // A registrar takes 409 for a refusal that stays: there may be room later.
        return registrar == null
                ? made.cast(Record.class)
                : made.cast(Record.class)
                        .onErrorMap(StoreException.Full.class,
                                full -> HandlerException
                                        .of(Reason.OVERLOADED, String.valueOf(full.getMessage()))
                                        .retryAfter(RETRY_WHEN_FULL));
    }

    private <T> Mono<T> noted(EdgeRequest request, String thing, Mono<T> created) {
        return audit.noted(request.context(), "runtime created", thing, created);
    }

    /** The runtimes that a call may change: a registrar's own. */
    private static RuntimeScope scope(EdgeRequest request) {
        return request.context().caller() instanceof AdminCaller caller
                && caller.role() == AdminRole.REGISTRAR
                        ? new RuntimeScope(caller.name())
                        : RuntimeScope.ALL;
    }

    /** Runs off the event loop, because the list may be long. */
    private Mono<EdgeResponse> list(EdgeRequest request) {
        return Mono.<EdgeResponse>fromSupplier(() -> {
            RuntimeQuery query = RuntimeQuery.of(request);
            List<RegisteredRuntime> found = store.runtimes(scope(request), query.after(), query.limit());
            RegisteredRuntime last = found.size() < query.limit() ? null : found.getLast();
            return JsonAnswer.of(HttpResponseStatus.OK,
                    new JsonAnswer.Page<>(views(found), last == null ? null : last.name().toString()));
        }).subscribeOn(Schedulers.boundedElastic());
    }

    private List<AdminJson.RuntimeView> views(List<RegisteredRuntime> runtimes) {
        Map<String, List<SessionView>> sessions = tunnels.sessions()
                .stream()
                .collect(Collectors.groupingBy(SessionView::runtimeId));
        return runtimes.stream()
                .map(runtime -> AdminJson.RuntimeView.of(runtime, tunnels.stateOf(runtime.id()),
                        sessions.getOrDefault(runtime.id(), List.of()), tunnels.waitingFor(runtime.id())))
                .toList();
    }

    private Mono<EdgeResponse> show(RuntimeName name) {
        return Mono.fromSupplier(() -> {
            RegisteredRuntime runtime = store.byName(name);
            if (runtime == null) {
                throw new StoreException.Absent("there is no runtime " + name);
            }
            return JsonAnswer.of(HttpResponseStatus.OK, AdminJson.RuntimeView.of(runtime,
                    tunnels.stateOf(runtime.id()), tunnels.sessionsOf(runtime.id()),
                    tunnels.waitingFor(runtime.id())));
        });
    }

    private Mono<EdgeResponse> change(EdgeRequest request, RuntimeName name) {
        return request.aggregate(AdminApi.MAX_BODY_BYTES).flatMap(body -> {
            Change wanted = JsonFields.read(body, Set.of("hosts", "upstream", "ca"), Change::of);
            RuntimeUpstream upstream = wanted.upstream;
            RuntimeScope scope = scope(request);
            if (upstream != null && scope.registrar() != null) {
                throw HandlerException.of(Reason.FORBIDDEN, "a registrar changes hosts only");
            }
            return upstream == null
                    ? audit.noted(request.context(), "runtime hosts changed", name,
                            registrar.replaceHosts(name, wanted.hosts, scope))
                    : audit.noted(request.context(), "runtime upstream changed",
                            name + ": upstream " + upstream, registrar.replaceUpstream(name, upstream));
        })
                .map(runtime -> JsonAnswer.of(HttpResponseStatus.OK, AdminJson.RuntimeView.of(runtime,
                        tunnels.stateOf(runtime.id()), tunnels.sessionsOf(runtime.id()),
                        tunnels.waitingFor(runtime.id()))));
    }

    /** Other hosts, or another upstream: each is one transaction. */
    private record Change(List<String> hosts, @Nullable RuntimeUpstream upstream) {
        static Change of(JsonFields fields) {
            RuntimeUpstream upstream = NewRuntime.upstreamIn(fields);
            if (upstream != null && fields.has("hosts")) {
                throw new InvalidNameException("hosts",
                        "given with upstream (expected: one of them in a call)");
            }
            return new Change(upstream == null ? fields.requiredTexts("hosts") : List.of(), upstream);
        }
    }

    private Mono<EdgeResponse> delete(EdgeRequest request, RuntimeName name) {
        RuntimeScope scope = scope(request);
        return RuntimeQuery.keepsPending(request, scope)
                ? requireNoPending(name, scope)
                        .onErrorResume(StoreException.Conflict.class,
                                waiting -> withdrawn(request, name, scope).then(Mono.error(waiting)))
                        .then(Mono.defer(() -> deleted(request, name, scope)))
                : deleted(request, name, scope);
    }

    /**
     * Cuts off a runtime that its registrar has deleted and whose webhooks wait: its certificates and tokens
     * are revoked, once, and its tunnels closed. Never fails: what can't be written is effective in memory.
     */
    private Mono<Void> withdrawn(EdgeRequest request, RuntimeName name, RuntimeScope scope) {
        return Mono.defer(() -> {
            RegisteredRuntime runtime = store.byName(name);
            if (scope.registrar() == null || runtime == null || !scope.covers(runtime)
                    || runtime.upstream() != null || withdrawn.contains(runtime.identity())) {
                return Mono.<Void>empty();
            }
            return audit
                    .noted(request.context(), "runtime revoked", name + ": deleted by its registrar",
                            registrar.revoke(name))
                    .doOnNext(revoked -> {
                        withdrawn.add(revoked.identity());
                        events.publish(ServerEvent.Kind.REVOKED, name, 0, null, "deleted by its registrar");
                    })
                    .then();
        }).onErrorComplete();
    }

    /** Emits nothing. Errors: {@link StoreException.Conflict} while webhooks of the runtime wait. */
    private Mono<Void> requireNoPending(RuntimeName name, RuntimeScope scope) {
        return Mono.defer(() -> {
            RegisteredRuntime runtime = store.byName(name);
            return runtime == null || !scope.covers(runtime)
                    ? Mono.empty()
                    : webhooks.list(new InboxQuery(WebhookState.PENDING, runtime.id(), null, null,
                            InboxQuery.MAX_LIMIT));
        })
                .flatMap(page -> page.entries().isEmpty()
                        ? Mono.empty()
                        : Mono.error(new StoreException.Conflict("the runtime " + name + " has "
                                + (page.next() == null ? "" : "more than ") + page.entries().size()
                                + " pending webhooks (expected: none, or pending=delete)")));
    }

    private Mono<EdgeResponse> deleted(EdgeRequest request, RuntimeName name, RuntimeScope scope) {
        return audit.noted(request.context(), "runtime deleted", name,
                registrar.delete(name, scope).doOnNext(gone -> tell(ServerEvent.Kind.DELETED, name)))
                .map(gone -> EdgeResponse.Http.empty(HttpResponseStatus.NO_CONTENT));
    }

    private Mono<EdgeResponse> revoke(EdgeRequest request, RuntimeName name) {
        return audit.noted(request.context(), "runtime revoked", name,
                registrar.revoke(name).doOnNext(revoked -> tell(ServerEvent.Kind.REVOKED, name)))
                .map(revoked -> EdgeResponse.Http.empty(HttpResponseStatus.NO_CONTENT));
    }

    private void tell(ServerEvent.Kind kind, RuntimeName name) {
        events.publish(kind, name, 0, null, "by an operator");
    }

    private Mono<EdgeResponse> token(EdgeRequest request, RuntimeName name) {
        return request.aggregate(AdminApi.MAX_BODY_BYTES)
                .flatMap(body -> audit.noted(request.context(), "enrolment token made", name,
                        registrar.token(name, life(body))))
                .map(token -> JsonAnswer.of(HttpResponseStatus.CREATED, AdminJson.TokenView.of(token)));
    }

    private static Duration life(byte[] body) {
        String ttl = body.length == 0
                ? null
                : JsonFields.<@Nullable String>read(body, Set.of("ttl"),
                        fields -> fields.optionalText("ttl"));
        return ttl == null ? RuntimeRegistrar.TOKEN_LIFE : TokenLife.of("ttl", ttl);
    }

    /** An invalid name belongs to no runtime. */
    static RuntimeName name(Map<String, String> segments) {
        String account = segments.getOrDefault("account", "");
        String name = segments.getOrDefault("name", "");
        try {
            return new RuntimeName(account, name);
        } catch (InvalidNameException e) {
            throw new StoreException.Absent("there is no such runtime");
        }
    }
}
