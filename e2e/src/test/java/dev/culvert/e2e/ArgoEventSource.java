package dev.culvert.e2e;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * Behaves as the webhook and GitHub event sources of Argo Events do: answers, bearer token, HMAC, {@code /health}, events.
 * It needs nothing but a JDK, so that scripts run it as {@code java ArgoEventSource.java}; see {@link #main}.
 *
 * <p>Argo's flaw is a switch: a source that answers 200 before its bus has the event loses what the bus does not take.
 */
public final class ArgoEventSource implements AutoCloseable {
    /** Argo's default for a payload. */
    public static final int MAX_PAYLOAD = 1 << 20;
    /** Events that are kept to be looked at; all are counted. */
    static final int MAX_KEPT = 100_000;

    static {
        System.setProperty("sun.net.httpserver.nodelay", "true"); // else each answer may wait 40 ms
        System.setProperty("sun.net.httpserver.maxReqHeaders", "1000");
    }

    private final Source source;
    private final Consumer<Event> bus;
    private final HttpServer server;
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
    private final ArrayDeque<Event> kept = new ArrayDeque<>();
    private final AtomicLong taken = new AtomicLong();
    private final AtomicLong lost = new AtomicLong();
    private volatile boolean active = true;
    private volatile boolean busUp = true;
    private volatile boolean answersFirst;

    /**
     * What a source is told.
     *
     * @param name of the EventSource
     * @param endpoint the path, and all below it, that it takes
     * @param method that it takes
     * @param bearer token that callers must have; empty: none
     * @param githubSecret of a GitHub source; empty: it is a webhook source
     * @param maxPayload bytes of a body; more are 413
     */
    public record Source(String name, String endpoint, String method, String bearer, String githubSecret,
            int maxPayload) {
        /** A webhook source. */
        public static Source webhook(String endpoint) {
            return new Source("webhook", endpoint, "POST", "", "", MAX_PAYLOAD);
        }

        /** A GitHub source. */
        public static Source github(String endpoint, String secret) {
            return new Source("github", endpoint, "POST", "", secret, 25 << 20);
        }

        /** The same for callers that have this token. */
        public Source with(String token) {
            return new Source(name, endpoint, method, token, githubSecret, maxPayload);
        }
    }

    /**
     * What the bus gets: the context of CloudEvents, and the data.
     *
     * @param header the request's fields, names as they came
     * @param body its bytes
     */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    public record Event(String id, String source, String subject, String type, Instant time,
            Map<String, String> header, byte[] body) {
        /** A field, whatever the case of its name; empty: there is none. */
        public String field(String name) {
            return header.entrySet()
                    .stream()
                    .filter(entry -> entry.getKey().equalsIgnoreCase(name))
                    .map(Map.Entry::getValue)
                    .findFirst()
                    .orElse("");
        }

        /** As Argo puts it on its bus; the body as base64, as in Go. */
        public String json() {
            String fields = header.entrySet()
                    .stream()
                    .map(entry -> quoted(entry.getKey()) + ":[" + quoted(entry.getValue()) + "]")
                    .collect(Collectors.joining(",", "{", "}"));
            return "{\"context\":{\"id\":" + quoted(id) + ",\"source\":" + quoted(source)
                    + ",\"specversion\":\"1.0\",\"type\":" + quoted(type)
                    + ",\"datacontenttype\":\"application/json\",\"subject\":" + quoted(subject)
                    + ",\"time\":" + quoted(time.toString()) + "},\"data\":{\"header\":" + fields
                    + ",\"body\":\"" + Base64.getEncoder().encodeToString(body) + "\"}}";
        }

        private static String quoted(String text) {
            StringBuilder quoted = new StringBuilder("\"");
            text.chars()
                    .forEach(c -> quoted.append(c < ' ' || c == '"' || c == '\\'
                            ? String.format("\\u%04x", c)
                            : String.valueOf((char) c)));
            return quoted.append('"').toString();
        }
    }

    /** @param bus told of each event that it takes, on the thread of its request */
    private ArgoEventSource(Source source, int port, Consumer<Event> bus) throws IOException {
        this.source = source;
        this.bus = bus;
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 1024);
        server.setExecutor(threads);
        server.createContext("/", this::serve);
        server.start();
    }

    /** A source on a free port of 127.0.0.1. */
    public static ArgoEventSource start(Source source) throws IOException {
        return start(source, 0);
    }

    /** A source on this port, as one that comes back. */
    public static ArgoEventSource start(Source source, int port) throws IOException {
        return new ArgoEventSource(source, port, event -> {});
    }

    public int port() {
        return server.getAddress().getPort();
    }

    /** Whether its endpoint is active; one that is not answers 400. */
    public ArgoEventSource active(boolean now) {
        active = now;
        return this;
    }

    /** Whether its bus takes events; while it does not, the source answers 500, or 200 if it answers first. */
    public ArgoEventSource bus(boolean up) {
        busUp = up;
        return this;
    }

    /** Argo's flaw: 200 before the bus is asked. */
    public ArgoEventSource answersFirst(boolean flawed) {
        answersFirst = flawed;
        return this;
    }

    /** The events that its bus took, oldest first; the last {@value #MAX_KEPT} of them. */
    public List<Event> events() {
        synchronized (kept) {
            return List.copyOf(kept);
        }
    }

    /** How many events its bus took. */
    public long taken() {
        return taken.get();
    }

    /** How many events were answered 200 and never reached the bus. */
    public long lost() {
        return lost.get();
    }

    private void serve(HttpExchange exchange) throws IOException {
        try (exchange) {
            byte[] body = exchange.getRequestBody().readNBytes(source.maxPayload + 1);
            String path = exchange.getRequestURI().getRawPath();
            if (path.equals("/health")) {
                answer(exchange, 200, "");
            } else if (!(path + "/").startsWith(source.endpoint + "/")) {
                answer(exchange, 404, "404 page not found");
            } else if (!exchange.getRequestMethod().equals(source.method)) {
                answer(exchange, 400, "http method mismatch");
            } else if (!active) {
                answer(exchange, 400, "endpoint is inactive");
            } else if (!source.bearer.isEmpty() && !isAuthorized(exchange)) {
                answer(exchange, 401, "unauthorized");
            } else if (body.length > source.maxPayload) {
                answer(exchange, 413, "http: request body too large");
            } else {
                String wrong = source.githubSecret.isEmpty() ? "" : notFromGitHub(exchange, body);
                if (wrong.isEmpty()) {
                    dispatch(exchange, body);
                } else {
                    answer(exchange, 400, wrong);
                }
            }
        }
    }

    private boolean isAuthorized(HttpExchange exchange) {
        String given = exchange.getRequestHeaders().getFirst("Authorization");
        return given != null && MessageDigest.isEqual(given.getBytes(StandardCharsets.UTF_8),
                ("Bearer " + source.bearer).getBytes(StandardCharsets.UTF_8));
    }

    /** What is wrong with it; empty: nothing. */
    private String notFromGitHub(HttpExchange exchange, byte[] body) {
        var fields = exchange.getRequestHeaders();
        String signature = fields.getFirst("X-Hub-Signature-256");
        if (signature == null || !MessageDigest.isEqual(signature.getBytes(StandardCharsets.UTF_8),
                sign(source.githubSecret, body).getBytes(StandardCharsets.UTF_8))) {
            return "payload signature check failed";
        }
        if (fields.getFirst("X-GitHub-Event") == null || fields.getFirst("X-GitHub-Delivery") == null) {
            return "X-GitHub-Event and X-GitHub-Delivery headers are required";
        }
        return "";
    }

    /** {@code sha256=…}, as GitHub signs a body. */
    public static String sign(String secret, byte[] body) {
        try {
            Mac mac = Mac.getInstance("HmacSHA256");
            mac.init(new SecretKeySpec(secret.getBytes(StandardCharsets.UTF_8), "HmacSHA256"));
            return "sha256=" + HexFormat.of().formatHex(mac.doFinal(body));
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("every JDK has HmacSHA256", e);
        }
    }

    private void dispatch(HttpExchange exchange, byte[] body) throws IOException {
        if (busUp) {
            take(exchange, body);
            answer(exchange, 200, "success");
        } else if (answersFirst) {
            lost.incrementAndGet();
            answer(exchange, 200, "success");
        } else {
            answer(exchange, 500, "failed to dispatch the event");
        }
    }

    private void take(HttpExchange exchange, byte[] body) {
        Map<String, String> header = new TreeMap<>();
        exchange.getRequestHeaders().forEach((name, values) -> header.put(name, String.join(", ", values)));
        Event event = new Event(UUID.randomUUID().toString(), source.name,
                exchange.getRequestURI().getRawPath(), source.githubSecret.isEmpty() ? "webhook" : "github",
                Instant.now(), header, body);
        synchronized (kept) {
            kept.add(event);
            if (kept.size() > MAX_KEPT) {
                kept.remove();
            }
        }
        taken.incrementAndGet();
        bus.accept(event);
    }

    private static void answer(HttpExchange exchange, int status, String text) throws IOException {
        byte[] body = text.getBytes(StandardCharsets.UTF_8);
        exchange.getResponseHeaders().set("Content-Type", "text/plain; charset=utf-8");
        exchange.sendResponseHeaders(status, body.length == 0 ? -1 : body.length);
        exchange.getResponseBody().write(body);
    }

    @Override
    public void close() {
        server.stop(0);
        threads.close();
    }

    /**
     * {@code java ArgoEventSource.java PORT ENDPOINT [webhook|github SECRET]}: prints {@code listening HOST:PORT} and then each
     * event as a line of JSON. Lines on standard input steer it: {@code bus up|down}, {@code active true|false}, {@code flaw
     * true|false}. Ends with its input.
     */
    public static void main(String[] arguments) throws IOException {
        Source source = arguments.length > 3 && arguments[2].equals("github")
                ? Source.github(arguments[1], arguments[3])
                : Source.webhook(arguments[1]);
        try (ArgoEventSource running = new ArgoEventSource(source, Integer.parseInt(arguments[0]),
                event -> System.out.println(event.json()))) {
            System.out.println("listening 127.0.0.1:" + running.port());
            try (var lines = new BufferedReader(
                    new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
                lines.lines().forEach(line -> running.steer(line.strip()));
            }
        }
    }

    private void steer(String line) {
        switch (line) {
            case "bus up" -> bus(true);
            case "bus down" -> bus(false);
            case "active true" -> active(true);
            case "active false" -> active(false);
            case "flaw true" -> answersFirst(true);
            case "flaw false" -> answersFirst(false);
            default -> System.err.println("not understood: " + line);
        }
    }
}
