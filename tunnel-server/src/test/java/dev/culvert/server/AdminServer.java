package dev.culvert.server;

import static dev.culvert.relay.testing.Results.await;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.culvert.admin.AdminRoute;
import dev.culvert.admin.AdminToken;
import dev.culvert.certs.Sha256;
import dev.culvert.config.ConfigBinding;
import dev.culvert.config.HostPort;
import dev.culvert.config.Origin;
import dev.culvert.handlers.server.EdgeServer;
import dev.culvert.handlers.server.HealthFilter;
import dev.culvert.handlers.server.HostFilter;
import dev.culvert.http.fields.AllowedHosts;
import dev.culvert.http.net.EventLoops;
import dev.culvert.http.observe.Readiness;
import dev.culvert.http.observe.Telemetry;
import dev.culvert.inbox.Inbox;
import dev.culvert.relay.observe.RequestLog;
import dev.culvert.relay.quota.CallerLimits;
import dev.culvert.relay.quota.MemoryBudget;
import dev.culvert.relay.quota.RuntimeQuotas;
import dev.culvert.relay.testing.EventLoopWatch;
import dev.culvert.server.access.AccessDefault;
import dev.culvert.server.admin.AdminApi;
import dev.culvert.server.direct.DirectHosts;
import dev.culvert.server.page.OperatorPages;
import dev.culvert.server.runtime.IssuedToken;
import dev.culvert.server.runtime.RuntimeRegistrar;
import dev.culvert.server.runtime.StoredToken;
import dev.culvert.server.runtime.TokenIssuer;
import dev.culvert.server.store.SqliteRuntimeStore;
import dev.culvert.server.store.StoreLimits;
import dev.culvert.server.tunnel.ServerEvents;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** An admin listener on a real port, with its own store, for tests. */
public final class AdminServer implements AutoCloseable {
    private static final JsonMapper JSON = new JsonMapper();

    static {
        EventLoopWatch.install();
    }

    public final FakeTunnels tunnels = new FakeTunnels();
    final RuntimeQuotas quotas = new RuntimeQuotas(CallerLimits.defaults().ofRuntime(),
            MemoryBudget.ofProcess(0));
    public final RequestLog requests = new RequestLog(Clock.systemUTC());
    public final ServerEvents events = new ServerEvents(Clock.systemUTC());
    public final SqliteRuntimeStore store;
    final AdminApi api;
    public final Path tokenFile;
    /** What was answered: {@code GET /api/v1/tunnels 200}. */
    public final Set<String> answered = new TreeSet<>();
    private final EventLoops loops = EventLoops.create(1);
    private final Telemetry telemetry = new Telemetry();
    private final HttpClient client = HttpClient.newHttpClient();
    private final EdgeServer server;
    private final OperatorPages pages;
    final Inbox inbox;

    public AdminServer(Path folder) {
        tokenFile = folder.resolve("admin.token");
        store = await(SqliteRuntimeStore.open(folder.resolve("data"), "t.example", StoreLimits.defaults(),
                Clock.systemUTC()));
        inbox = TestInbox.open(folder.resolve("inbox"), loops);
        TokenIssuer issuer = (runtimeId, expires) -> new IssuedToken("secret-of-" + runtimeId,
                new StoredToken(runtimeId + "@" + System.nanoTime(),
                        Sha256.of(runtimeId.getBytes(StandardCharsets.UTF_8)), runtimeId, expires, null,
                        null));
        var registrar = new RuntimeRegistrar(store, tunnels, issuer, "t.example", Clock.systemUTC(),
                gone -> {}, new DirectHosts(null, Duration.ofSeconds(60), telemetry));
        var parts = new AdminApi.Parts(await(AdminToken.load(tokenFile)), store.adminTokens(), store.audit(),
                store, registrar, quotas, AccessDefault.OPEN, tunnels, inbox, events, requests,
                Clock.systemUTC());
        api = new AdminApi(parts);
        pages = new OperatorPages(api, parts, new NoFigures(), () -> "wss://t.example:7443",
                List.of(new ConfigBinding.Effective("edge.domain", "t.example", Origin.of("server.yaml:3")),
                        new ConfigBinding.Effective("edge.accessLog", "true", Origin.DEFAULT)),
                HostPort.parse("127.0.0.1:9090"));
        server = await(EdgeServer.start(EdgeServer.Setup.of(HostPort.parse("127.0.0.1:0"), loops)
                .filter(new HostFilter(AllowedHosts.of(List.of("admin.example")), "admin.hosts"))
                .filter(new HealthFilter(() -> Readiness.READY, telemetry)
                        .calledBy(AllowedHosts.of(List.of("admin.example")))),
                pages));
    }

    /** An answer. */
    public record Answer(int status, HttpResponse<String> response) {
        public JsonNode json() {
            try {
                return JSON.readTree(response.body());
            } catch (JsonProcessingException e) {
                throw new UncheckedIOException(e);
            }
        }

        public String header(String name) {
            return response.headers().firstValue(name).orElse("");
        }
    }

    public HostPort address() {
        return server.address();
    }

    public String token() {
        try {
            return Files.readString(tokenFile).strip();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Calls with the right token. */
    public Answer call(String method, String path, @Nullable String body) {
        return call(method, path, body, "Bearer " + token());
    }

    public Answer call(String method, String path, @Nullable String body, @Nullable String authorization) {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create("http://" + server.address() + path))
                .method(method, body == null ? BodyPublishers.noBody() : BodyPublishers.ofString(body));
        if (authorization != null) {
            request.header("Authorization", authorization);
        }
        try {
            HttpResponse<String> response = client.send(request.build(), BodyHandlers.ofString());
            note(method, path, response.statusCode());
            return new Answer(response.statusCode(), response);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            throw new IllegalStateException("interrupted", e);
        }
    }

    private void note(String method, String path, int status) {
        for (AdminRoute route : api.routes()) {
            if (route.method().name().equals(method) && route.template().match(path) != null) {
                answered.add(method + " " + route.template() + " " + status);
            }
        }
    }

    @Override
    public void close() {
        client.close();
        pages.close();
        server.stop(Duration.ofSeconds(1)).block();
        inbox.close().block();
        store.close().block();
        loops.disposeLater(Duration.ZERO, Duration.ofSeconds(1)).block();
        telemetry.close();
    }
}
