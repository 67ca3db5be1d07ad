package dev.culvert.e2e;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.culvert.config.HostPort;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import org.jspecify.annotations.Nullable;

/**
 * What of Toxiproxy's HTTP API its Java client needs, for machines without a Docker engine. Like Toxiproxy, but for one
 * thing: a connection under a time-out without end hides the end of one side from the other.
 */
final class ToxicServer implements FaultServer {
    private static final ObjectMapper JSON = new ObjectMapper();

    private final HttpServer server;
    private final Map<String, ToxicProxy> proxies = new ConcurrentHashMap<>();

    private ToxicServer(HttpServer server) {
        this.server = server;
    }

    static ToxicServer start() {
        return start(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
    }

    /**
     * Serves until the process ends, in Toxiproxy's place: the main class of the image that {@code e2e/scripts/docker_faults.py} makes.
     *
     * @param args as Toxiproxy has them: {@code -host=ADDRESS -port=N}
     */
    public static void main(String[] args) {
        String host = "localhost";
        int port = 8474;
        for (String argument : args) {
            String value = argument.substring(argument.indexOf('=') + 1);
            if (argument.startsWith("-host=")) {
                host = value;
            } else if (argument.startsWith("-port=")) {
                port = Integer.parseInt(value);
            } else {
                throw new IllegalArgumentException(argument + " (expected: -host=ADDRESS, -port=N)");
            }
        }
        start(new InetSocketAddress(host, port));
    }

    private static ToxicServer start(InetSocketAddress listen) {
        try {
            HttpServer http = HttpServer.create(listen, 0);
            ToxicServer server = new ToxicServer(http);
            http.createContext("/", server::serve);
            http.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
            http.start();
            return server;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public HostPort control() {
        return HostPort.of(server.getAddress());
    }

    @Override
    public void close() {
        server.stop(0);
        for (ToxicProxy proxy : proxies.values()) {
            try {
                proxy.disable();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    private void serve(HttpExchange exchange) throws IOException {
        try (exchange) {
            JsonNode body = JSON.readTree(exchange.getRequestBody());
            List<String> path = List.of(exchange.getRequestURI().getPath().substring(1).split("/"));
            JsonNode answer;
            int status = 200;
            try {
                answer = answer(exchange.getRequestMethod(), path, body);
            } catch (IllegalArgumentException | IOException e) {
                answer = JSON.createObjectNode().put("error", String.valueOf(e.getMessage()));
                status = 400;
            }
            if (answer == null) {
                exchange.sendResponseHeaders(204, -1);
                return;
            }
            byte[] bytes = JSON.writeValueAsBytes(answer);
            exchange.getResponseHeaders().set("Content-Type", "application/json");
            exchange.sendResponseHeaders(status, bytes.length);
            exchange.getResponseBody().write(bytes);
        }
    }

    private @Nullable JsonNode answer(String method, List<String> path, JsonNode body) throws IOException {
        if (path.equals(List.of("version"))) {
            return JSON.createObjectNode().put("version", "culvert");
        }
        if (path.size() == 1 && path.getFirst().equals("proxies") && method.equals("POST")) {
            return create(body);
        }
        ToxicProxy proxy = path.size() < 2 ? null : proxies.get(path.get(1));
        if (proxy == null) {
            throw new IllegalArgumentException("nothing here: " + method + " " + path);
        }
        if (path.size() == 2) {
            return proxy(proxy, method, body);
        }
        return path.size() == 3 ? toxics(proxy, method, body) : toxic(proxy, path.get(3), method, body);
    }

    private JsonNode create(JsonNode body) throws IOException {
        var proxy = new ToxicProxy(body.path("name").asText(), HostPort.parse(body.path("listen").asText()),
                HostPort.parse(body.path("upstream").asText()));
        proxy.enable();
        proxies.put(proxy.name, proxy);
        return view(proxy);
    }

    private @Nullable JsonNode proxy(ToxicProxy proxy, String method, JsonNode body) throws IOException {
        if (method.equals("DELETE")) {
            proxy.disable();
            proxies.remove(proxy.name);
            return null;
        }
        if (body.has("enabled")) {
            if (body.path("enabled").asBoolean()) {
                proxy.enable();
            } else {
                proxy.disable();
            }
        }
        return view(proxy);
    }

    private static JsonNode toxics(ToxicProxy proxy, String method, JsonNode body) {
        if (method.equals("POST")) {
            return put(proxy, new Toxic(body.path("name").asText(), body.path("type").asText(),
                    body.path("stream").asText().equalsIgnoreCase("upstream"), attributes(body)));
        }
        ArrayNode all = JSON.createArrayNode();
        proxy.toxics().forEach(toxic -> all.add(view(toxic)));
        return all;
    }

    private static @Nullable JsonNode toxic(ToxicProxy proxy, String name, String method, JsonNode body) {
        if (method.equals("DELETE")) {
            proxy.remove(name);
            return null;
        }
        Toxic present = proxy.toxic(name);
        if (present == null) {
            throw new IllegalArgumentException("no toxic " + name);
        }
        Map<String, Long> attributes = new HashMap<>(present.attributes());
        attributes.putAll(attributes(body));
        return put(proxy, new Toxic(name, present.type(), present.upstream(), attributes));
    }

    private static JsonNode put(ToxicProxy proxy, Toxic toxic) {
        proxy.put(toxic);
        return view(toxic);
    }

    private static Map<String, Long> attributes(JsonNode body) {
        Map<String, Long> attributes = new HashMap<>();
        body.path("attributes").properties().forEach(e -> attributes.put(e.getKey(), e.getValue().asLong()));
        return attributes;
    }

    private static JsonNode view(ToxicProxy proxy) {
        return JSON.createObjectNode()
                .put("name", proxy.name)
                .put("listen", proxy.listen().toString())
                .put("upstream", proxy.upstream.toString())
                .put("enabled", proxy.isEnabled());
    }

    private static JsonNode view(Toxic toxic) {
        ObjectNode view = JSON.createObjectNode()
                .put("name", toxic.name())
                .put("type", toxic.type())
                .put("stream", toxic.upstream() ? "upstream" : "downstream")
                .put("toxicity", 1);
        ObjectNode attributes = view.putObject("attributes");
        toxic.attributes().forEach(attributes::put);
        return view;
    }
}
