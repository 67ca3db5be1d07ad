package dev.culvert.standins.git;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.NullNode;
import com.sun.net.httpserver.Headers;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.culvert.certs.TlsMaterial;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A provider on 127.0.0.1: its REST API and Git's smart HTTP for the repositories of a {@link GitHost}.
 * Records the last calls for tests. Safe for use by any thread. The creator closes it.
 */
public final class GitProviderServer implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(GitProviderServer.class);
    private static final int MAX_CALLS = 10_000;

    private final ProviderStandIn api;
    private final GitHost host;
    private final GitSmartHttp git;
    private final HttpServer server;
    private final boolean secure;
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
    private final ConcurrentLinkedDeque<SeenCall> calls = new ConcurrentLinkedDeque<>();
    private final AtomicInteger toLimit = new AtomicInteger();
    private final JsonMapper json = new JsonMapper();
    private volatile Duration wait = Duration.ofSeconds(1);

    private GitProviderServer(ProviderStandIn api, GitHost host, HttpServer server, boolean secure) {
        this.api = api;
        this.host = host;
        this.server = server;
        this.secure = secure;
        this.git = new GitSmartHttp(host, api.gitPrefix());
    }

    /**
     * Starts the provider on a free port.
     *
     * @param tls the certificate, or null for plain HTTP
     */
    public static GitProviderServer start(ProviderStandIn api, GitHost host, @Nullable TlsMaterial tls)
            throws IOException {
        return start(api, host, tls, 0);
    }

    /** Starts the provider on a port; 0 picks a free one. */
    public static GitProviderServer start(ProviderStandIn api, GitHost host, @Nullable TlsMaterial tls,
            int port)
            throws IOException {
        var address = new InetSocketAddress(InetAddress.ofLiteral("127.0.0.1"), port);
        HttpServer server = tls == null ? HttpServer.create(address, 0) : StandInTls.server(address, tls);
        var provider = new GitProviderServer(api, host, server, tls != null);
        server.setExecutor(provider.threads);
        server.createContext("/", provider::handle);
        server.start();
        return provider;
    }

    /** The URL for people and Git: {@code http://127.0.0.1:4711}. */
    public URI url() {
        return URI.create((secure ? "https" : "http") + "://127.0.0.1:" + server.getAddress().getPort());
    }

    /** The URL of the REST API. */
    public URI apiUrl() {
        return URI.create(url() + api.root());
    }

    /** The clone URL of a repository: {@code http://127.0.0.1:4711/owner/name.git}. */
    public URI cloneUrl(String fullName) {
        return URI.create(url() + api.gitPrefix() + "/" + fullName + ".git");
    }

    /** The last 10,000 calls of the REST API and Git, the oldest first. */
    public List<SeenCall> calls() {
        return List.copyOf(calls);
    }

    /** Refuses the next {@code answers} calls of the REST API with the provider's rate limit error. */
    public void limitNext(int answers, Duration retryAfter) {
        wait = retryAfter;
        toLimit.set(answers);
    }

    @Override
    public void close() {
        server.stop(0);
        threads.shutdownNow();
    }

    private void handle(HttpExchange exchange) {
        try (exchange) {
            boolean isGit = git.takes(exchange.getRequestURI().getPath());
            if (isGit) {
                remember(exchange, git.serve(exchange));
            } else {
                rest(exchange);
            }
        } catch (IOException | RuntimeException e) {
            LOG.atDebug().setCause(e).log("call of a stand-in failed");
        }
    }

    private void remember(HttpExchange exchange, int status) {
        calls.add(new SeenCall(exchange.getRequestMethod(), exchange.getRequestURI().toString(),
                exchange.getRequestHeaders().getFirst("If-None-Match"), status));
        while (calls.size() > MAX_CALLS) {
            calls.poll();
        }
    }

    private void rest(HttpExchange exchange) throws IOException {
        ProviderAnswer answer = answer(exchange);
        byte[] body = json.writeValueAsBytes(answer.body());
        Headers fields = exchange.getResponseHeaders();
        answer.fields().forEach(fields::set);
        fields.set("Content-Type", "application/json");
        if (api.hasValidators() && answer.status() == 200) {
            String tag = "W/\"" + Integer.toHexString(Arrays.hashCode(body)) + "\"";
            fields.set("ETag", tag);
            if (tag.equals(exchange.getRequestHeaders().getFirst("If-None-Match"))) {
                remember(exchange, 304);
                exchange.sendResponseHeaders(304, -1);
                return;
            }
        }
        remember(exchange, answer.status()); // first: the caller may ask for it behind its answer
        exchange.sendResponseHeaders(answer.status(), body.length == 0 ? -1 : body.length);
        exchange.getResponseBody().write(body);
    }

    private ProviderAnswer answer(HttpExchange exchange) throws IOException {
        String path = exchange.getRequestURI().getRawPath();
        String token = api.token(exchange.getRequestHeaders());
        HostedUser user = token == null ? null : host.owner(token).orElse(null);
        if (!path.startsWith(api.root() + "/")) {
            return api.error(404, "Not Found");
        } else if (toLimit.getAndUpdate(left -> Math.max(0, left - 1)) > 0) {
            return api.limited(wait);
        } else if (user == null) {
            return api.error(401, "Bad credentials");
        }
        List<String> segments = Arrays.stream(path.substring(api.root().length() + 1).split("/"))
                .map(GitProviderServer::decoded)
                .toList();
        return api.answer(new ApiCall(exchange.getRequestMethod(), segments, query(exchange), body(exchange),
                host, user, url().toString()));
    }

    private JsonNode body(HttpExchange exchange) throws IOException {
        byte[] body = exchange.getRequestBody().readAllBytes();
        return body.length == 0 ? NullNode.instance : json.readTree(body);
    }

    private static Map<String, String> query(HttpExchange exchange) {
        var parameters = new HashMap<String, String>();
        String query = exchange.getRequestURI().getRawQuery();
        for (String pair : query == null ? new String[0] : query.split("&")) {
            int equals = pair.indexOf('=');
            parameters.put(decoded(equals < 0 ? pair : pair.substring(0, equals)),
                    equals < 0 ? "" : decoded(pair.substring(equals + 1)));
        }
        return parameters;
    }

    private static String decoded(String text) {
        return URLDecoder.decode(text, StandardCharsets.UTF_8);
    }
}
