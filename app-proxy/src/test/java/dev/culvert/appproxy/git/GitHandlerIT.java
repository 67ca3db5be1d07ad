package dev.culvert.appproxy.git;

import static dev.culvert.appproxy.GitCommand.git;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.culvert.appproxy.AppProxy;
import dev.culvert.appproxy.AppProxyConfig;
import dev.culvert.appproxy.GitCommand;
import dev.culvert.config.ByteSize;
import dev.culvert.config.HostPort;
import dev.culvert.relay.testing.EventLoopWatch;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Objects;
import java.util.Random;
import java.util.TreeMap;
import java.util.stream.Stream;
import java.util.zip.GZIPOutputStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class GitHandlerIT {
    private static final Duration TIME = Duration.ofMinutes(1);
    /** More than the pipes and socket buffers between git and a reader that stalls. */
    private static final int STALLING_BYTES = 16 << 20;
    private static final String UPLOAD_PACK = "demo.git/info/refs?service=git-upload-pack";

    @TempDir
    Path temp;

    private Path repositories = Path.of("");
    private Path work = Path.of("");
    private @Nullable AppProxy proxy;

    @BeforeAll
    static void watchForBlocking() {
        EventLoopWatch.install();
    }

    @BeforeEach
    void makeRepository() throws IOException, InterruptedException {
        repositories = Files.createDirectory(temp.resolve("repositories"));
        work = Files.createDirectory(temp.resolve("work"));
        git(repositories, "init", "--quiet", "--bare", "--initial-branch=main", "demo.git");
        git(work, "init", "--quiet", "--initial-branch=main");
        git(work, "remote", "add", "local", repositories.resolve("demo.git").toString());
        commit("first.txt", "first".getBytes(StandardCharsets.UTF_8));
    }

    @AfterEach
    void stop() {
        if (proxy != null) {
            proxy.stop(Duration.ZERO).block(TIME);
        }
        assertThat(gitProcesses()).isZero();
    }

    @Test
    void clonesAndFetches() throws IOException, InterruptedException {
        start(false);

        git(temp, "clone", "--quiet", url(), "clone");
        commit("second.txt", "second".getBytes(StandardCharsets.UTF_8));
        git(temp.resolve("clone"), "pull", "--quiet");

        assertThat(temp.resolve("clone/second.txt")).hasContent("second");
    }

    @Test
    void streamsALargeRepository() throws IOException, InterruptedException {
        byte[] blob = random(40 << 20);
        commit("blob", blob);
        start(false);

        git(temp, "clone", "--quiet", url(), "clone");

        assertThat(temp.resolve("clone/blob")).hasBinaryContent(blob);
    }

    @Test
    void takesALargePushWithAChunkedBody() throws IOException, InterruptedException {
        byte[] blob = random(40 << 20);
        start(true);
        git(temp, "clone", "--quiet", url(), "clone");
        Path clone = temp.resolve("clone");
        Files.write(clone.resolve("blob"), blob);
        git(clone, "add", "blob");
        git(clone, "commit", "--quiet", "-m", "blob");

        git(clone, "push", "--quiet", "origin", "main");

        assertThat(git(repositories.resolve("demo.git"), "rev-parse", "main"))
                .isEqualTo(git(clone, "rev-parse", "main"));
        git(repositories.resolve("demo.git"), "fsck", "--no-progress");
    }

    @Test
    void understandsCompressedRequests() throws IOException, InterruptedException {
        start(false);
        var body = new ByteArrayOutputStream();
        try (var zip = new GZIPOutputStream(body)) {
            zip.write(want().getBytes(StandardCharsets.US_ASCII));
        }

        String answer = exchange("POST", "demo.git/git-upload-pack",
                body.toString(StandardCharsets.ISO_8859_1),
                "Content-Type: application/x-git-upload-pack-request\r\nContent-Encoding: gzip\r\n");

        assertThat(answer).startsWith("HTTP/1.1 200").contains("PACK");
    }

    @Test
    void refusesPushesUnlessAllowed() throws IOException, InterruptedException {
        start(false);
        git(temp, "clone", "--quiet", url(), "clone");
        git(temp.resolve("clone"), "commit", "--quiet", "--allow-empty", "-m", "mine");

        GitCommand.Result push = GitCommand.run(temp.resolve("clone"), "push", "origin", "main");

        assertThat(push.exitCode()).isNotZero();
        assertThat(push.output()).contains("403");
        assertThat(exchange("POST", "demo.git/git-receive-pack", "0000")).startsWith("HTTP/1.1 403")
                .contains("urn:culvert:problem:not-allowed");
    }

    @Test
    void pushesLoseNothingUnlessAllowed() throws IOException, InterruptedException {
        start(true);
        Path clone = temp.resolve("clone");
        git(temp, "clone", "--quiet", url(), "clone");
        git(clone, "tag", "v1");
        git(clone, "push", "--quiet", "origin", "v1", "main:other");
        git(clone, "commit", "--quiet", "--amend", "--allow-empty", "-m", "another");
        git(clone, "tag", "--force", "v1");

        assertThat(push(clone, "--force", "main")).contains("non-fast-forward");
        assertThat(push(clone, ":other")).contains("deletion prohibited");
        assertThat(push(clone, "--force", "v1")).contains("403");
        assertThat(push(clone, "main:refs/notes/x")).contains("hidden ref");
        assertThat(push(clone, "main:refs/heads/third")).isEmpty();

        Objects.requireNonNull(proxy).stop(Duration.ZERO).block(TIME);
        start(new AppProxyConfig.Git(repositories, true, false, 32, Duration.ofHours(1),
                ByteSize.parse("256MiB"), ByteSize.parse("1GiB"), true));
        git(clone, "remote", "set-url", "origin", url());
        assertThat(push(clone, "--force", "main", ":other", "v1")).isEmpty();
        assertThat(push(clone, "main:refs/notes/x")).contains("hidden ref");
    }

    /** What Git says when it fails; empty: it does not. */
    private static String push(Path clone, String... words) throws IOException, InterruptedException {
        GitCommand.Result push = GitCommand.run(clone, Stream.concat(Stream.of("push", "--quiet"),
                Stream.concat(Stream.of(words).filter(word -> word.startsWith("--")),
                        Stream.concat(Stream.of("origin"),
                                Stream.of(words).filter(word -> !word.startsWith("--")))))
                .toArray(String[]::new));
        return push.exitCode() == 0 ? "" : push.output() + " ";
    }

    /**
     * Requests that are nearly right, each half of them compressed. By default a few; {@code
     * -Dculvert.mutations=1000} sends as many.
     */
    @Test
    void mutatedRequestsHarmNothing() throws IOException, InterruptedException {
        int count = Integer.getInteger("culvert.mutations", 40);
        start(true);
        git(work, "repack", "-adq");
        MutatedRequests requests = MutatedRequests.of(work, git(work, "rev-parse", "main"), want());
        var answers = new TreeMap<String, Integer>();

        try (var memory = new ProcessMemory()) {
            for (int i = 0; i < count; i++) {
                MutatedRequests.Request request = requests.next();
                answers.merge(status(request), 1, Integer::sum);
            }

            assertThat(memory.peakMiB()).as("RssAnon of " + memory.largest() + "; answers " + answers)
                    .isLessThan(256);
        }
        assertThat(answers.keySet()).as("each is answered").doesNotContain("", "500 internal");
        git(temp, "clone", "--quiet", url(), "clone");
        git(repositories.resolve("demo.git"), "fsck", "--no-progress");
    }

    /** The status of the answer; {@code reset} if it came while the request was still sent. */
    private String status(MutatedRequests.Request request) throws IOException {
        try {
            String answer = exchange("POST", "demo.git/" + request.service(), request.body(),
                    request.fields());
            return !answer.startsWith("HTTP/1.1 ")
                    ? answer
                    : answer.substring(9, 12)
                            + (answer.contains("urn:culvert:problem:internal") ? " internal" : "");
        } catch (SocketException early) {
            return "reset";
        }
    }

    @Test
    void speaksProtocolVersion2() throws IOException {
        start(false);

        String answer = exchange("GET", UPLOAD_PACK, "", "Git-Protocol: version=2\r\n");

        assertThat(answer).startsWith("HTTP/1.1 200")
                .contains("000eversion 2")
                .contains("content-type: application/x-git-upload-pack-advertisement");
    }

    @ParameterizedTest
    @ValueSource(strings = {"none.git/info/refs?service=git-upload-pack", "demo.git/HEAD",
            "demo.git/info/refs",
            "demo.git/objects/info/packs", "outside.git/info/refs?service=git-upload-pack",
            "plain.git/info/refs?service=git-upload-pack", ".hidden.git/info/refs?service=git-upload-pack",
            "file.git/info/refs?service=git-upload-pack"})
    void findsOnlyBareRepositoriesOfItsFolder(String path) throws IOException, InterruptedException {
        git(temp, "init", "--quiet", "--bare", "secret.git");
        Files.createSymbolicLink(repositories.resolve("outside.git"), temp.resolve("secret.git"));
        git(repositories, "init", "--quiet", "plain.git");
        git(repositories, "init", "--quiet", "--bare", ".hidden.git");
        Files.writeString(repositories.resolve("file.git"), "gitdir: ../secret.git");
        start(false);

        assertThat(exchange("GET", path, "")).startsWith("HTTP/1.1 404")
                .contains("urn:culvert:problem:not-found");
    }

    @ParameterizedTest
    @ValueSource(strings = {"../secret.git/info/refs?service=git-upload-pack",
            "%2e%2e/secret.git/info/refs?service=git-upload-pack", "demo.git/..%5cx/info/refs",
            "demo.git/./HEAD",
            "demo.git%00/info/refs?service=git-upload-pack"})
    void refusesPathsThatClimb(String path) throws IOException {
        start(false);

        assertThat(exchange("GET", path, "")).startsWith("HTTP/1.1 400");
    }

    @Test
    void theCallerLeavingKillsTheProcess() throws IOException, InterruptedException {
        commit("blob", random(STALLING_BYTES));
        start(false);

        try (Socket stalled = stalledDownload()) {
            assertThat(gitProcesses()).isPositive();
            assertThat(stalled.isConnected()).isTrue();
        }

        await().atMost(TIME).until(() -> gitProcesses() == 0);
    }

    @Test
    void theCallerLeavingWithinItsUploadKillsTheProcess() throws IOException {
        start(true);

        try (var socket = connect()) {
            send(socket, "POST", "demo.git/git-receive-pack",
                    "Content-Type: application/x-git-receive-pack-request\r\nContent-Length: 1000\r\n",
                    "0066" + "0".repeat(40) + " " + "1".repeat(40) + " refs/heads/main\n0000");
            await().atMost(TIME).until(() -> gitProcesses() > 0);
        }

        await().atMost(TIME).until(() -> gitProcesses() == 0);
    }

    @Test
    void moreThanItsProcessesAreRefused() throws IOException, InterruptedException {
        commit("blob", random(STALLING_BYTES));
        start(new AppProxyConfig.Git(repositories, false, false, 1, Duration.ofHours(1)));

        try (Socket stalled = stalledDownload()) {
            assertThat(exchange("GET", UPLOAD_PACK, "")).startsWith("HTTP/1.1 503")
                    .contains("urn:culvert:problem:overloaded")
                    .contains("retry-after: 1");
            assertThat(stalled.isConnected()).isTrue();
        }

        await().atMost(TIME).until(() -> exchange("GET", UPLOAD_PACK, "").startsWith("HTTP/1.1 200"));
    }

    @Test
    void aRunThatTakesTooLongIsResetNotCompleted() throws IOException, InterruptedException {
        commit("blob", random(STALLING_BYTES));
        start(new AppProxyConfig.Git(repositories, false, false, 1, Duration.ofSeconds(1)));

        try (Socket stalled = stalledDownload()) {
            await().atMost(TIME).until(() -> gitProcesses() == 0);
            assertThat(readAll(stalled)).endsWith("<reset>");
        }
    }

    @Test
    void aBrokenRepositoryIsGitsToExplain() throws IOException {
        Files.writeString(repositories.resolve("demo.git/HEAD"), "nonsense");
        start(false);

        assertThat(exchange("GET", UPLOAD_PACK, "")).matches("(?s)HTTP/1.1 [45].*")
                .doesNotContain(temp.toString());
    }

    /** A clone whose reader stops after the head. */
    private Socket stalledDownload() throws IOException, InterruptedException {
        String body = want();
        Socket socket = connect();
        send(socket, "POST", "demo.git/git-upload-pack",
                "Content-Type: application/x-git-upload-pack-request\r\n"
                        + "Content-Length: " + body.length() + "\r\n",
                body);
        assertThat(socket.getInputStream().readNBytes(12)).asString().isEqualTo("HTTP/1.1 200");
        return socket;
    }

    /** A request for the newest commit and all that it needs. */
    private String want() throws IOException, InterruptedException {
        String want = "want " + git(work, "rev-parse", "main") + " side-band-64k\n";
        return String.format("%04x%s00000009done\n", want.length() + 4, want);
    }

    private void commit(String file, byte[] content) throws IOException, InterruptedException {
        Files.write(work.resolve(file), content);
        git(work, "add", file);
        git(work, "commit", "--quiet", "-m", file);
        git(work, "push", "--quiet", "local", "main");
    }

    private void start(boolean allowPush) {
        start(new AppProxyConfig.Git(repositories, allowPush, false, 32, Duration.ofHours(1)));
    }

    private void start(AppProxyConfig.Git git) {
        var config = AppProxyConfig.of(new HostPort("127.0.0.1", 0), null,
                AppProxyConfig.Handlers.of(git));
        proxy = AppProxy.start(config).block(TIME);
    }

    private HostPort address() {
        return Objects.requireNonNull(proxy).address();
    }

    private String url() {
        return "http://" + address() + "/app-proxy/git/demo.git";
    }

    private Socket connect() throws IOException {
        Socket socket = new Socket();
        socket.setReceiveBufferSize(4096);
        socket.setSoTimeout((int) TIME.toMillis());
        socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), address().port()));
        return socket;
    }

    private String exchange(String method, String path, String body, String... fields) throws IOException {
        try (var socket = connect()) {
            String length = body.isEmpty() ? "" : "Content-Length: " + body.length() + "\r\n";
            send(socket, method, path, String.join("", fields) + length + "Connection: close\r\n", body);
            return readAll(socket);
        }
    }

    private static void send(Socket socket, String method, String path, String fields, String body)
            throws IOException {
        String text = method + " /app-proxy/git/" + path + " HTTP/1.1\r\nHost: a\r\n" + fields + "\r\n"
                + body;
        socket.getOutputStream().write(text.getBytes(StandardCharsets.ISO_8859_1));
    }

    private static String readAll(Socket socket) throws IOException {
        var bytes = new ByteArrayOutputStream();
        String end = "";
        try {
            InputStream in = socket.getInputStream();
            in.transferTo(bytes);
        } catch (SocketException e) {
            end = "<reset>";
        }
        return bytes.toString(StandardCharsets.ISO_8859_1) + end;
    }

    private static byte[] random(int bytes) {
        byte[] blob = new byte[bytes];
        new Random(7).nextBytes(blob);
        return blob;
    }

    private static long gitProcesses() {
        try (Stream<ProcessHandle> children = ProcessHandle.current().descendants()) {
            return children.filter(ProcessHandle::isAlive).count();
        }
    }
}
