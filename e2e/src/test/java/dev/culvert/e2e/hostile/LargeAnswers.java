package dev.culvert.e2e.hostile;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.culvert.config.HostPort;
import dev.culvert.platform.host.ControlPlane;
import dev.culvert.platform.host.ControlPlaneConfig;
import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * A user who may see one repository asks an App-Proxy with a heap of 512 MiB for large answers, of several kinds, and reads
 * them slowly or not at all. Another user of the same repository must be answered. What the App-Proxy keeps afterwards is a
 * fault.
 */
final class LargeAnswers {
    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final int CHECKS_PER_SECOND = 2;
    private static final int QUIET_CHECKS = 20;
    private static final int LARGE = 4_800_000;
    private static final int MIDDLE = 1_000_000;
    private static final double MIB = 1 << 20;
    private static final double UNNOTICED = 16 * MIB;
    private static final long UNNOTICED_DESCRIPTORS = 64;
    private static final Pattern HEAP = Pattern
            .compile("(?m)^jvm_memory_used_bytes\\{area=\"heap\".*} (\\S+)$");

    private final Attack attack;
    private final HttpClient http = HttpClient.newHttpClient();
    private final JsonMapper json = new JsonMapper();
    private final Path folder;
    private final ControlPlane plane;
    private final Process proxy;
    private final int port;
    private final Queue<Double> millis = new ConcurrentLinkedQueue<>();
    private final AtomicInteger failed = new AtomicInteger();

    private LargeAnswers(Attack attack) throws Exception {
        this.attack = attack;
        folder = Files.createTempDirectory(attack.target.folder(), "answers");
        repository();
        ControlPlane users = Objects.requireNonNull(ControlPlane.start(ControlPlaneConfig.of(
                HostPort.parse("127.0.0.1:0"), folder.resolve("data"), ControlPlaneConfig.Nudge.none()))
                .block(PATIENCE));
        attack.keep(() -> users.stop(Duration.ZERO).block(PATIENCE));
        plane = users;
        Process started = start();
        attack.keep(() -> started.destroyForcibly().onExit().join());
        proxy = started;
        port = port();
    }

    /** Attacks until the attack's time is over, and waits until what it took is free. */
    static void attack(Attack attack, double callers) throws Exception {
        new LargeAnswers(attack).run(callers);
    }

    private void run(double callers) throws Exception {
        String eve = key("Eve");
        String bob = key("Bob");
        for (int i = 0; i < QUIET_CHECKS; i++) {
            check(bob);
        }
        check(eve);
        collect();
        double heap = heap();
        long descriptors = descriptors();
        String quiet = quantiles();
        List<Socket> hers = new ArrayList<>();
        for (Socket socket : attack.connected(callers, () -> Tls.plain(attack.address(), port))) {
            int kind = hers.size();
            hers.add(socket);
            attack.aside(() -> ask(socket, eve, kind));
        }
        attack.inTurn(CHECKS_PER_SECOND, () -> check(bob));
        attack.awaitEnd();
        attack.note("another user, p50/p99 ms: quiet " + quiet + ", attacked " + quantiles() + ", failed "
                + failed);
        for (Socket socket : hers) {
            socket.close();
        }
        judge(heap, descriptors);
    }

    /** One caller: asks again and again, as one who reads all, or once, as one who reads nothing. */
    private void ask(Socket socket, String key, int kind) throws IOException {
        String request = switch (kind % 4) {
            case 0 -> query(key, files("large", 16, "data"));
            case 1 -> query(key, files("middle", 16, "data"));
            case 2 -> query(key, files("middle", 1, IntStream.range(0, 6)
                    .mapToObj(i -> "f" + i + ": data")
                    .collect(Collectors.joining(" "))));
            default -> raw(key, "large");
        };
        boolean reads = kind % 4 < 2 || kind % 8 >= 4;
        InputStream in = socket.getInputStream();
        do {
            socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
            String head = RawHttp1.head(in);
            attack.answered(head);
            if (reads) {
                in.skipNBytes(RawHttp1.length(head));
            }
        } while (reads && attack.runs());
        while (attack.runs() && in.read() >= 0) {
            LockSupport.parkNanos(PATIENCE.toNanos() / 30);
        }
    }

    private static String files(String path, int aliases, String selection) {
        return IntStream.range(0, aliases)
                .mapToObj(i -> "a" + i
                        + ": readFile(args: {repo: \\\"acme/shop\\\", branchName: \\\"main\\\", path: \\\""
                        + path + "\\\"}) { " + selection + " }")
                .collect(Collectors.joining(" ", "{\"query\":\"{ ", " }\"}"));
    }

    private static String query(String key, String body) {
        return "POST /app-proxy/api/graphql HTTP/1.1\r\nHost: demo\r\nContent-Type: application/json\r\nAuthorization: "
                + key + "\r\nContent-Length: " + body.length() + "\r\n\r\n" + body;
    }

    private static String raw(String key, String path) {
        return "GET /app-proxy/api/files?repo=acme/shop&branchName=main&path=" + path
                + " HTTP/1.1\r\nHost: demo\r\nAuthorization: " + key + "\r\n\r\n";
    }

    /** What the other user does: each must be answered. */
    private void check(String key) throws IOException {
        check(query(key, files("small", 1, "data revision")), "hello");
        check(raw(key, "small"), "hello");
        check(raw(key, "middle"), "");
    }

    private void check(String request, String expected) throws IOException {
        long began = System.nanoTime();
        String head = "";
        try (Socket caller = Tls.plain("127.0.1.2", port)) {
            caller.setSoTimeout(Tls.PATIENCE_MILLIS);
            caller.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
            head = RawHttp1.head(caller.getInputStream());
            String body = new String(caller.getInputStream().readNBytes(RawHttp1.length(head)),
                    StandardCharsets.UTF_8);
            if (!head.startsWith("HTTP/1.1 200") || !body.contains(expected)) {
                failed.incrementAndGet();
                attack.fault("another user got " + head.lines().findFirst().orElse("") + " " + body);
            }
            millis.add((System.nanoTime() - began) / 1e6);
        } catch (IOException e) {
            if (attack.runs()) {
                failed.incrementAndGet();
                attack.fault("another user got " + e);
            }
            throw e;
        }
    }

    /** The p50 and p99 since the last call. */
    private String quantiles() {
        double[] sorted = millis.stream().mapToDouble(Double::doubleValue).sorted().toArray();
        millis.clear();
        return sorted.length == 0
                ? "none"
                : String.format(Locale.ROOT, "%.0f/%.0f of %d", sorted[sorted.length / 2],
                        sorted[(int) (sorted.length * 0.99)], sorted.length);
    }

    private void judge(double heap, long descriptors) throws Exception {
        if (!proxy.isAlive() || log().contains("OutOfMemory")) {
            attack.fault("the App-Proxy ended, or had no memory: "
                    + log().lines().filter(line -> line.contains("OutOfMemory")).findFirst().orElse(""));
            return;
        }
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        double kept;
        long open;
        do {
            collect();
            kept = heap() - heap;
            open = descriptors() - descriptors;
        } while ((kept > UNNOTICED || open > UNNOTICED_DESCRIPTORS) && System.nanoTime() < deadline);
        attack.note(
                String.format(Locale.ROOT, "heap %.1f MiB, afterwards %+.1f; descriptors %d, %+d", heap / MIB,
                        kept / MIB, descriptors, open));
        if (kept > UNNOTICED || open > UNNOTICED_DESCRIPTORS) {
            attack.fault("30 s later " + kept + " bytes and " + open + " descriptors are kept");
        }
    }

    private void collect() throws IOException, InterruptedException {
        new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "jcmd").toString(),
                Long.toString(proxy.pid()), "GC.run").redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .start()
                .waitFor(PATIENCE.toSeconds(), TimeUnit.SECONDS);
    }

    private double heap() throws IOException, InterruptedException {
        String metrics = http.send(HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/metrics"))
                .timeout(PATIENCE)
                .build(), HttpResponse.BodyHandlers.ofString()).body();
        return HEAP.matcher(metrics).results().mapToDouble(line -> Double.parseDouble(line.group(1))).sum();
    }

    private long descriptors() throws IOException {
        try (var open = Files.list(Path.of("/proc", Long.toString(proxy.pid()), "fd"))) {
            return open.count();
        }
    }

    /** A new user's key, who may see the repository. */
    private String key(String name) throws IOException, InterruptedException {
        String user = made("/api/users", "{\"name\":\"" + name + "\",\"email\":\"" + name + "@acme.test\"}")
                .path("id")
                .textValue();
        made("/api/abac", "{\"entity\":\"gitContexts\",\"actions\":[\"VIEW\"],\"users\":[\"" + user + "\"]}");
        return made("/api/keys", "{\"user\":\"" + user + "\"}").path("key").textValue();
    }

    private JsonNode made(String path, String body) throws IOException, InterruptedException {
        HttpResponse<String> answer = http.send(
                HttpRequest.newBuilder(URI.create("http://" + plane.address() + path))
                        .timeout(PATIENCE)
                        .header("content-type", "application/json")
                        .header("authorization", "Bearer " + adminKey())
                        .POST(HttpRequest.BodyPublishers.ofString(body))
                        .build(),
                HttpResponse.BodyHandlers.ofString());
        if (answer.statusCode() >= 300) {
            throw new IOException(path + ": " + answer.body());
        }
        return json.readTree(answer.body());
    }

    private String adminKey() throws IOException {
        return Files.readString(folder.resolve("data/admin.key")).strip();
    }

    private void repository() throws IOException, InterruptedException {
        Path work = Files.createDirectories(folder.resolve("work"));
        Files.writeString(work.resolve("small"), "hello\n");
        Files.writeString(work.resolve("middle"), "x".repeat(MIDDLE));
        Files.writeString(work.resolve("large"), "x".repeat(LARGE));
        Files.createDirectories(folder.resolve("git/acme"));
        git("init", "--quiet", "--template=", "--initial-branch=main");
        git("add", ".");
        git("-c", "user.name=Bob", "-c", "user.email=bob@acme.test", "commit", "--quiet", "-m", "first");
        git("clone", "--quiet", "--bare", ".", "../git/acme/shop.git");
    }

    private void git(String... arguments) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of("git"));
        command.addAll(List.of(arguments));
        int exit = new ProcessBuilder(command).directory(folder.resolve("work").toFile())
                .inheritIO()
                .start()
                .waitFor();
        if (exit != 0) {
            throw new IOException(command + ": " + exit);
        }
    }

    private Process start() throws IOException, InterruptedException {
        Path key = Files.writeString(folder.resolve("runtime.key"),
                made("/api/keys", "{\"runtime\":\"prod\"}").path("key").textValue());
        Path config = Files.writeString(folder.resolve("app-proxy.yaml"), """
                listen: 127.0.0.1:0
                controlPlane: { url: "http://%s", tokenFile: "%s" }
                handlers:
                  repositories:
                    integrations: [{ name: shop, kind: folder, folder: "%s" }]
                    tokens: { folder: "%s", keyFile: "%s" }
                  commits: { cacheFolder: "%s" }
                """.formatted(plane.address(), key, folder.resolve("git"), folder.resolve("tokens"),
                folder.resolve("token.key"), folder.resolve("cache")));
        return new ProcessBuilder(HostileServer.java(), "-cp", System.getProperty("java.class.path"),
                "--enable-native-access=ALL-UNNAMED", "--sun-misc-unsafe-memory-access=allow",
                "-XX:+ExitOnOutOfMemoryError", "-XX:+UseSerialGC", "-Xmx512m", "dev.culvert.launcher.Main",
                "app-proxy", "--config", config.toString()).redirectErrorStream(true)
                .redirectOutput(folder.resolve("app-proxy.log").toFile())
                .start();
    }

    private int port() throws IOException {
        Pattern listening = Pattern.compile("(?m)^\\{\"event\":\"listening\".*?127\\.0\\.0\\.1:(\\d+)");
        long deadline = System.nanoTime() + 2 * PATIENCE.toNanos();
        while (System.nanoTime() < deadline && proxy.isAlive()) {
            Matcher line = listening.matcher(log());
            if (line.find()) {
                return Integer.parseInt(line.group(1));
            }
            LockSupport.parkNanos(Duration.ofMillis(50).toNanos());
        }
        throw new IOException("the App-Proxy does not listen:\n" + log());
    }

    private String log() throws IOException {
        return Files.readString(folder.resolve("app-proxy.log"), StandardCharsets.ISO_8859_1);
    }
}
