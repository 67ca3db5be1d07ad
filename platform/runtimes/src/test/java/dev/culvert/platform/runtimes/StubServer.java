package dev.culvert.platform.runtimes;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;

/** The calls of a tunnel server's admin API that a registrar makes, with the same answers. */
public final class StubServer implements AutoCloseable {
    public static final String TOKEN = "culvert_plane.secret";
    private static final String RUNTIMES = "/api/v1/runtimes";
    private static final JsonMapper JSON = new JsonMapper();

    /** The bodies that created the runtimes, by account and name. */
    public final SortedMap<String, JsonNode> runtimes = new ConcurrentSkipListMap<>();
    /** Those with a tunnel. */
    public final Set<String> connected = ConcurrentHashMap.newKeySet();
    /** Those with webhooks that wait. */
    public final Set<String> pending = ConcurrentHashMap.newKeySet();
    /** The changes that were made, in their order. */
    public final List<String> changes = new CopyOnWriteArrayList<>();
    /** The calls that are answered, after the change is made, with 503. */
    public final AtomicInteger losing = new AtomicInteger();
    private final HttpServer http;
    /** While it is true each call is 503. */
    public volatile boolean away;

    public StubServer() {
        try {
            http = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        http.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
        http.createContext("/", this::answer);
        http.start();
    }

    public String url() {
        return "http://127.0.0.1:" + http.getAddress().getPort();
    }

    private synchronized void answer(HttpExchange call) throws IOException {
        try (call) {
            byte[] body = call.getRequestBody().readAllBytes();
            if (away) {
                send(call, 503, problem("away"));
            } else if (!("Bearer " + TOKEN).equals(call.getRequestHeaders().getFirst("authorization"))) {
                send(call, 401, problem("not the registrar's token"));
            } else {
                Answer answer = answer(call.getRequestMethod(), call.getRequestURI(), body);
                boolean isLost = !call.getRequestMethod().equals("GET")
                        && losing.getAndUpdate(left -> Math.max(0, left - 1)) > 0;
                send(call, isLost ? 503 : answer.status, isLost ? problem("lost") : answer.body);
            }
        }
    }

    private record Answer(int status, Object body) {}

    private Answer answer(String method, URI uri, byte[] body) throws IOException {
        String path = uri.getPath();
        return switch (method) {
            case "GET" -> list(uri.getQuery());
            case "POST" -> create(JSON.readTree(body));
            default -> delete(path.substring(RUNTIMES.length() + 1),
                    "pending=delete".equals(uri.getQuery()));
        };
    }

    private Answer list(String query) {
        String after = query.contains("next=") ? query.substring(query.indexOf("next=") + 5) : "";
        List<Map<String, String>> items = new ArrayList<>();
        String next = null;
        for (String name : runtimes.tailMap(after + "\0").keySet()) {
            items.add(Map.of("account", name.substring(0, name.indexOf('/')), "name",
                    name.substring(name.indexOf('/') + 1), "state",
                    connected.contains(name) ? "connected" : "disconnected"));
            if (items.size() == 3) { // small, so that there are many pages
                next = name;
                break;
            }
        }
        Map<String, Object> page = new LinkedHashMap<>();
        page.put("items", items);
        page.put("next", next);
        return new Answer(200, page);
    }

    private Answer create(JsonNode wanted) {
        String name = wanted.path("account").asText() + "/" + wanted.path("name").asText();
        JsonNode before = runtimes.putIfAbsent(name, wanted);
        if (before == null) {
            changes.add("+" + name);
        }
        return before == null || before.equals(wanted)
                ? new Answer(201, Map.of("name", name))
                : new Answer(409, problem("the runtime " + name + " exists already"));
    }

    private Answer delete(String name, boolean force) {
        if (runtimes.containsKey(name) && pending.contains(name) && !force) {
            return new Answer(409, problem("the runtime " + name + " has 2 pending webhooks"));
        }
        if (runtimes.remove(name) == null) {
            return new Answer(404, problem("there is no such runtime"));
        }
        changes.add("-" + name);
        return new Answer(204, Map.of());
    }

    private static Map<String, String> problem(String detail) {
        return Map.of("detail", detail);
    }

    private static void send(HttpExchange call, int status, Object body) throws IOException {
        byte[] bytes = JSON.writeValueAsString(body).getBytes(StandardCharsets.UTF_8);
        call.sendResponseHeaders(status, status == 204 ? -1 : bytes.length);
        if (status != 204) {
            call.getResponseBody().write(bytes);
        }
    }

    @Override
    public void close() {
        http.stop(0);
    }
}
