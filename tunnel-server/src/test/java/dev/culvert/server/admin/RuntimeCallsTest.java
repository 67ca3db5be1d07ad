package dev.culvert.server.admin;

import static dev.culvert.relay.testing.Results.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.admin.AdminCaller;
import dev.culvert.admin.AdminRole;
import dev.culvert.admin.AdminRoute;
import dev.culvert.admin.AdminToken;
import dev.culvert.certs.Base64Url;
import dev.culvert.handlers.spi.EdgeRequest;
import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.handlers.spi.RequestContext;
import dev.culvert.http.net.EventLoops;
import dev.culvert.inbox.Inbox;
import dev.culvert.relay.observe.RequestLog;
import dev.culvert.relay.quota.CallerLimits;
import dev.culvert.relay.quota.MemoryBudget;
import dev.culvert.relay.quota.RuntimeQuotas;
import dev.culvert.relay.testing.MovableClock;
import dev.culvert.server.FakeTunnels;
import dev.culvert.server.TestInbox;
import dev.culvert.server.access.AccessDefault;
import dev.culvert.server.runtime.RegisteredRuntime;
import dev.culvert.server.runtime.RuntimeName;
import dev.culvert.server.runtime.RuntimeRegistrar;
import dev.culvert.server.runtime.RuntimeStore;
import dev.culvert.server.runtime.SessionView;
import dev.culvert.server.store.AuditEntry;
import dev.culvert.server.store.AuditStore;
import dev.culvert.server.token.AdminTokenStore;
import dev.culvert.server.tunnel.ServerEvents;
import dev.culvert.store.StoreException;
import dev.culvert.store.Uncancellable;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http.DefaultHttpHeaders;
import io.netty.handler.codec.http.HttpMethod;
import java.lang.reflect.Proxy;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/** What a call does when its caller does not wait for the answer. */
class RuntimeCallsTest {
    private static final RegisteredRuntime PROD = new RegisteredRuntime("id-1", "identity-1",
            new RuntimeName("acme", "prod"), "acme-prod.t.example", List.of(), Instant.EPOCH);

    @TempDir
    Path folder;
    private final MovableClock clock = new MovableClock();
    private final EventLoops loops = EventLoops.create(1);
    private @Nullable Inbox inbox;
    private final FakeTunnels tunnels = new FakeTunnels();
    private final ServerEvents events = new ServerEvents(clock);
    private final List<String> called = new CopyOnWriteArrayList<>();
    private final List<String> happened = new CopyOnWriteArrayList<>();
    private final List<String> audited = new CopyOnWriteArrayList<>();
    private final Sinks.One<RegisteredRuntime> commit = Sinks.one();

    @ParameterizedTest
    @CsvSource({"POST, /api/v1/runtimes/acme/prod/revoke, revoked",
            "DELETE, /api/v1/runtimes/acme/prod, deleted"})
    void aCallerThatLeavesDuringTheCommitChangesNothingOfWhatFollows(String method, String path,
            String what) {
        tunnels.open.add(new SessionView("session-1", PROD.id(), 1, "open", clock.instant(), 0.1, 0,
                "127.0.0.1:1", "test/1"));
        events.watch()
                .subscribe(next -> happened.add(((ServerEvents.Seen.Event) next).event().word()));

        Disposable call = call(method, path).subscribe();
        Awaitility.await().until(() -> !called.isEmpty());
        call.dispose();
        commit.tryEmitValue(PROD).orThrow();

        Awaitility.await().until(() -> !audited.isEmpty());
        assertThat(tunnels.closedReasons).hasSize(1);
        assertThat(happened).containsExactly(what);
        assertThat(audited).containsExactly("runtime " + what);
    }

    @Test
    void anErrorOfTheStoreIsTheCallersAsItIs() {
        Mono<?> call = Uncancellable
                .of(Mono.error(new StoreException.Absent("there is no runtime acme/prod")));

        assertThat(Objects.requireNonNull(call.materialize().block()).getThrowable())
                .isInstanceOf(StoreException.Absent.class);
    }

    /** A registrar takes a 409 for a refusal that stays. */
    @Test
    void aFullStoreIsARefusalThatPassesForARegistrar() {
        String body = "{\"account\":\"acme\",\"name\":\"prod\",\"enrolment\":{\"id\":\""
                + Base64Url.encode(new byte[16]) + "\",\"hash\":\"" + Base64Url.encode(new byte[32])
                + "\",\"expiresAt\":\"" + clock.instant().plusSeconds(60) + "\"}}";

        Throwable registrars = failure("POST", body, new AdminCaller("plane", AdminRole.REGISTRAR));
        Throwable operators = failure("POST", body, AdminCaller.BOOTSTRAP);

        assertThat(registrars).isInstanceOfSatisfying(HandlerException.class, refused -> {
            assertThat(refused.reason()).isEqualTo(HandlerException.Reason.OVERLOADED);
            assertThat(refused.retryAfter()).isNotNull();
        });
        assertThat(operators).isInstanceOf(StoreException.Full.class);
    }

    private Throwable failure(String method, String body, AdminCaller caller) {
        return Objects.requireNonNull(Objects.requireNonNull(call(method, RuntimeCalls.ALL,
                Flux.just(Unpooled.copiedBuffer(body, StandardCharsets.US_ASCII)), caller).materialize()
                .block()).getThrowable());
    }

    private Inbox inbox() {
        Inbox opened = TestInbox.open(folder.resolve("inbox"), loops);
        inbox = opened;
        return opened;
    }

    @AfterEach
    void close() {
        if (inbox != null) {
            inbox.close().block();
        }
        loops.disposeLater(Duration.ZERO, Duration.ofSeconds(1)).block();
    }

    private Mono<?> call(String method, String path) {
        return call(method, path, Flux.empty(), AdminCaller.BOOTSTRAP);
    }

    private Mono<?> call(String method, String path, Flux<ByteBuf> body, AdminCaller caller) {
        var parts = new AdminApi.Parts(await(AdminToken.load(folder.resolve("admin.token"))),
                stand(AdminTokenStore.class), stand(AuditStore.class), stand(RuntimeStore.class),
                new RuntimeRegistrar(stand(RuntimeStore.class), tunnels,
                        (runtimeId, expires) -> {
                            throw new IllegalStateException("no token is made here");
                        }, "t.example", clock, gone -> {}),
                new RuntimeQuotas(CallerLimits.defaults().ofRuntime(), MemoryBudget.ofProcess(0)),
                AccessDefault.OPEN, tunnels,
                inbox(), events, new RequestLog(clock), clock);
        var request = new EdgeRequest(HttpMethod.valueOf(method), path, new DefaultHttpHeaders(),
                body,
                RequestContext.of("request-1", new InetSocketAddress(InetAddress.getLoopbackAddress(), 1))
                        .withCaller(caller));
        for (AdminRoute route : new RuntimeCalls(parts, new AdminAudit(parts.audit(), clock)).routes()) {
            var segments = route.template().match(path);
            if (segments != null && route.serves(request.method())) {
                return route.call().answer(request, segments);
            }
        }
        throw new AssertionError("no route");
    }

    /** A store that commits when the test says so. */
    private <T> T stand(Class<T> type) {
        return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[]{type},
                (proxy, method, arguments) -> switch (method.getName()) {
                    case "revoke", "delete" -> {
                        called.add(method.getName());
                        yield commit.asMono();
                    }
                    case "create" -> Mono.error(new StoreException.Full("1 runtimes are registered"));
                    case "byName" -> PROD;
                    case "add" -> {
                        audited.add(((AuditEntry) arguments[0]).action());
                        yield Mono.empty();
                    }
                    default -> throw new UnsupportedOperationException(method.getName());
                }));
    }
}
