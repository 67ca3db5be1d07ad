package dev.culvert.server.admin;

import dev.culvert.admin.AdminRole;
import dev.culvert.admin.AdminRoute;
import dev.culvert.admin.JsonAnswer;
import dev.culvert.handlers.rest.JsonFields;
import dev.culvert.handlers.spi.EdgeRequest;
import dev.culvert.handlers.spi.EdgeResponse;
import dev.culvert.server.runtime.InvalidNameException;
import dev.culvert.server.runtime.RegisteredRuntime;
import dev.culvert.server.runtime.RuntimeName;
import dev.culvert.server.runtime.RuntimeRegistrar;
import dev.culvert.server.runtime.RuntimeStore;
import dev.culvert.server.runtime.RuntimeUpstream;
import dev.culvert.server.runtime.SessionView;
import dev.culvert.server.runtime.TunnelDirectory;
import dev.culvert.server.tunnel.ServerEvent;
import dev.culvert.server.tunnel.ServerEvents;
import dev.culvert.store.StoreException;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpResponseStatus;
import java.time.Duration;
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

    private final RuntimeStore store;
    private final RuntimeRegistrar registrar;
    private final TunnelDirectory tunnels;
    private final ServerEvents events;
    private final AdminAudit audit;

    RuntimeCalls(AdminApi.Parts parts, AdminAudit audit) {
        this.store = parts.store();
        this.registrar = parts.registrar();
        this.tunnels = parts.tunnels();
        this.events = parts.events();
        this.audit = audit;
    }

    List<AdminRoute> routes() {
        return List.of(new AdminRoute(HttpMethod.POST, ALL, (request, segments) -> create(request)),
                new AdminRoute(HttpMethod.GET, ALL, (request, segments) -> list()),
                new AdminRoute(HttpMethod.GET, ONE, (request, segments) -> show(name(segments))),
                new AdminRoute(HttpMethod.PATCH, ONE,
                        (request, segments) -> change(request, name(segments))),
                new AdminRoute(HttpMethod.DELETE, ONE,
                        (request, segments) -> delete(request, name(segments))),
                new AdminRoute(HttpMethod.POST, REVOKE,
                        (request, segments) -> revoke(request, name(segments))),
                new AdminRoute(HttpMethod.POST, TOKENS,
                        (request, segments) -> token(request, name(segments))).needs(AdminRole.OPERATE));
    }

    private Mono<EdgeResponse> create(EdgeRequest request) {
        return request.aggregate(AdminApi.MAX_BODY_BYTES).flatMap(body -> {
            NewRuntime wanted = JsonFields.read(body, Set.of("account", "name", "hosts", "upstream", "ca"),
                    fields -> new NewRuntime(new RuntimeName(fields.text("account"), fields.text("name")),
                            fields.texts("hosts"), upstreamIn(fields)));
            return create(request, wanted);
        }).map(made -> JsonAnswer.of(HttpResponseStatus.CREATED, made));
    }

    private Mono<Record> create(EdgeRequest request, NewRuntime wanted) {
        RuntimeUpstream upstream = wanted.upstream;
        return upstream == null
                ? audit.noted(request.context(), "runtime created", wanted.name,
                        registrar.register(wanted.name, wanted.hosts)).map(AdminJson.CreatedRuntimeView::of)
                : audit.noted(request.context(), "runtime created", wanted.name + ": upstream " + upstream,
                        registrar.register(wanted.name, wanted.hosts, upstream))
                        .map(AdminJson.HostedRuntimeView::of);
    }

    private record NewRuntime(RuntimeName name, List<String> hosts, @Nullable RuntimeUpstream upstream) {}

    private static @Nullable RuntimeUpstream upstreamIn(JsonFields fields) {
        String url = fields.optionalText("upstream");
        String ca = fields.optionalText("ca");
        if (url == null && ca != null) {
            throw new InvalidNameException("ca", "given without upstream (expected: both)");
        }
        return url == null ? null : RuntimeUpstream.of(url, ca);
    }

    /** Runs off the event loop, because the list may be long. */
    private Mono<EdgeResponse> list() {
        return Mono.<EdgeResponse>fromSupplier(() -> {
            Map<String, List<SessionView>> sessions = tunnels.sessions()
                    .stream()
                    .collect(Collectors.groupingBy(SessionView::runtimeId));
            return JsonAnswer.of(HttpResponseStatus.OK,
                    new JsonAnswer.Page<>(store.runtimes()
                            .stream()
                            .map(runtime -> AdminJson.RuntimeView.of(runtime, tunnels.stateOf(runtime.id()),
                                    sessions.getOrDefault(runtime.id(), List.of()),
                                    tunnels.waitingFor(runtime.id())))
                            .toList(), null));
        }).subscribeOn(Schedulers.boundedElastic());
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
            return upstream == null
                    ? audit.noted(request.context(), "runtime hosts changed", name,
                            registrar.replaceHosts(name, wanted.hosts))
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
            RuntimeUpstream upstream = upstreamIn(fields);
            if (upstream != null && fields.has("hosts")) {
                throw new InvalidNameException("hosts",
                        "given with upstream (expected: one of them in a call)");
            }
            return new Change(upstream == null ? fields.requiredTexts("hosts") : List.of(), upstream);
        }
    }

    private Mono<EdgeResponse> delete(EdgeRequest request, RuntimeName name) {
        return audit.noted(request.context(), "runtime deleted", name,
                registrar.delete(name).doOnNext(gone -> tell(ServerEvent.Kind.DELETED, name)))
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
