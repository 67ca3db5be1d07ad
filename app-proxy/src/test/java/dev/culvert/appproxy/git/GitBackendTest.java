package dev.culvert.appproxy.git;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.culvert.appproxy.AppProxyConfig;
import dev.culvert.appproxy.GitCommand;
import dev.culvert.appproxy.access.AuthenticatedCaller;
import dev.culvert.config.ByteSize;
import dev.culvert.handlers.spi.EdgeRequest;
import dev.culvert.handlers.spi.EdgeResponse;
import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.handlers.spi.HandlerException.Reason;
import dev.culvert.handlers.spi.RequestContext;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http.DefaultHttpHeaders;
import io.netty.handler.codec.http.HttpMethod;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.zip.DeflaterOutputStream;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.test.StepVerifier;
import reactor.test.publisher.TestPublisher;
import reactor.test.scheduler.VirtualTimeScheduler;

class GitBackendTest {
    private static final Duration TIME = Duration.ofMinutes(1);

    private static final PushRights.Rules ANY = updates -> Mono.just(PushRights.NONE);
    private static final String CREATE = "0".repeat(40) + " " + "1".repeat(40) + " refs/heads/main";
    private static final String ADVERTISEMENT = "info/refs?service=git-upload-pack";

    @TempDir
    Path repositories;

    private final VirtualTimeScheduler clock = VirtualTimeScheduler.create();
    private GitBackend backend = new GitBackend(AppProxyConfig.Git.of(Path.of("")), clock);

    @BeforeEach
    void start() throws IOException, InterruptedException {
        GitCommand.git(repositories, "init", "--quiet", "--bare", "demo.git");
        backend = backend(1);
    }

    @AfterEach
    void stop() {
        backend.stop().block(TIME);
        clock.dispose();
    }

    private GitBackend backend(int processes) {
        return new GitBackend(
                new AppProxyConfig.Git(repositories, true, false, processes, Duration.ofHours(1)),
                clock);
    }

    @Test
    void answersWithWhatGitSays() {
        Mono<String> text = serve("info/refs?service=git-upload-pack", Flux.empty())
                .flatMapMany(response -> ((EdgeResponse.Http) response).body())
                .map(GitBackendTest::text)
                .reduce(String::concat);

        StepVerifier.create(text)
                .assertNext(body -> assertThat(body).startsWith("001e# service=git-upload-pack"))
                .verifyComplete();
        awaitFree();
    }

    @Test
    void aMissingRepositoryFreesItsPlace() {
        var request = request("none.git/info/refs?service=git-upload-pack", Flux.empty());

        StepVerifier.create(backend.serve(GitCall.of(request), request, "a", ANY))
                .verifyErrorSatisfies(
                        error -> assertThat(((HandlerException) error).reason()).isEqualTo(Reason.NOT_FOUND));
        awaitFree();
    }

    @Test
    void cancellingTheAnswerCancelsTheRequestsBody() {
        TestPublisher<ByteBuf> body = TestPublisher.create();
        var response = (EdgeResponse.Http) Objects
                .requireNonNull(serve("git-receive-pack", begun(body.flux())).block(TIME));

        StepVerifier.create(response.body()).thenCancel().verify(TIME);

        awaitFree();
        await().atMost(TIME).untilAsserted(body::assertCancelled);
    }

    @Test
    void cancellingAtOnceFreesItsPlace() {
        for (int i = 0; i < 20; i++) {
            StepVerifier.create(serve("info/refs?service=git-upload-pack", Flux.empty()))
                    .thenCancel()
                    .verify(TIME);
            awaitFree();
        }
    }

    @Test
    void anUnreadAnswerKeepsItsPlaceUntilItIsCancelled() {
        var response = (EdgeResponse.Http) Objects
                .requireNonNull(serve("info/refs?service=git-upload-pack", Flux.empty()).block(TIME));

        StepVerifier.create(serve("info/refs?service=git-upload-pack", Flux.empty()))
                .verifyErrorSatisfies(
                        error -> assertThat(((HandlerException) error).reason())
                                .isEqualTo(Reason.OVERLOADED));
        StepVerifier.create(response.body(), 0).thenCancel().verify(TIME);

        awaitFree();
    }

    @Test
    void aBodyThatFailsFailsTheCall() {
        Flux<ByteBuf> broken = Flux.error(new IOException("caller left"));

        // Git may have sent its head before it asked for the body.
        StepVerifier.create(serve("git-receive-pack", broken)
                .flatMapMany(response -> ((EdgeResponse.Http) response).body())).expectError().verify(TIME);
        awaitFree();
    }

    @Test
    void stoppingKillsWhatRuns() {
        Flux<ByteBuf> answer = serve("git-receive-pack", begun(Flux.never()))
                .flatMapMany(response -> ((EdgeResponse.Http) response).body());

        StepVerifier.create(answer).then(() -> backend.stop().block(TIME)).expectError().verify(TIME);

        awaitFree();
    }

    @Test
    void requestsThatDripStartNoProcess() {
        for (String service : new String[]{"git-upload-pack", "git-receive-pack"}) {
            StepVerifier.create(serve(service, Flux.never()))
                    .expectSubscription()
                    .then(() -> assertThat(backend.available()).isEqualTo(1))
                    .then(() -> clock.advanceTimeBy(Duration.ofSeconds(21)))
                    .expectErrorSatisfies(error -> refused(error, Reason.REQUEST_TIMEOUT))
                    .verify(TIME);
        }
    }

    @Test
    void aFetchIsReadBeforeItsProcessStarts() {
        TestPublisher<ByteBuf> body = TestPublisher.create();

        StepVerifier.create(serve("git-upload-pack", body.flux())
                .flatMapMany(response -> ((EdgeResponse.Http) response).body())
                .map(GitBackendTest::text)
                .reduce("", String::concat))
                .then(() -> body.next(Unpooled.copiedBuffer("0000", StandardCharsets.US_ASCII)))
                .then(() -> assertThat(backend.available()).isEqualTo(1))
                .then(body::complete)
                .expectNextCount(1)
                .expectComplete()
                .verify(TIME);
        awaitFree();
    }

    @Test
    void aPushThatStallsIsEnded() {
        var response = (EdgeResponse.Http) Objects
                .requireNonNull(serve("git-receive-pack", begun(Flux.never())).block(TIME));

        StepVerifier.create(response.body())
                .then(() -> clock.advanceTimeBy(Duration.ofSeconds(22)))
                .expectError()
                .verify(TIME);

        awaitFree();
    }

    @Test
    void theNewestOfTheNoisiestGivesWay() {
        backend = backend(2);
        var first = unread("noisy");
        var second = unread("noisy");

        var other = unread("quiet");

        StepVerifier.create(second.body()).expectError().verify(TIME);
        StepVerifier.create(serve(ADVERTISEMENT, Flux.empty(), "noisy"))
                .verifyErrorSatisfies(error -> refused(error, Reason.OVERLOADED));
        for (var answer : List.of(first, other)) {
            StepVerifier.create(answer.body().doOnNext(ByteBuf::release))
                    .thenConsumeWhile(part -> true)
                    .expectComplete()
                    .verify(TIME);
        }
        await().atMost(TIME).until(() -> backend.available() == 2);
    }

    @Test
    void whoTakesNothingGivesWayToOthersInTime() {
        var stalled = unread("a");
        StepVerifier.create(serve(ADVERTISEMENT, Flux.empty(), "b"))
                .verifyErrorSatisfies(error -> refused(error, Reason.OVERLOADED));
        clock.advanceTimeBy(Duration.ofSeconds(21));

        EdgeResponse.Http answered = unreadSoon("b");

        StepVerifier.create(stalled.body()).expectError().verify(TIME);
        StepVerifier.create(answered.body()).thenCancel().verify(TIME);
        awaitFree();
    }

    /** 20 million lines are 3 MB of gzip, and made upload-pack take 690 MB. */
    @Test
    void aFetchIsMeasuredAsItExpands() {
        String have = "0032have " + "0123456789".repeat(4) + "\n";
        byte[] body = gzip(have.getBytes(StandardCharsets.US_ASCII), 1 << 20);

        assertThat(body).hasSizeLessThan(1 << 20);
        EdgeRequest request = request("demo.git/git-upload-pack",
                Flux.defer(() -> Flux.just(Unpooled.wrappedBuffer(body))));
        request.headers().set("content-encoding", "gzip");

        StepVerifier.create(backend.serve(GitCall.of(request), request, "a", ANY))
                .expectErrorSatisfies(error -> refused(error, Reason.BODY_TOO_LARGE))
                .verify(TIME);
        awaitFree();
    }

    /** A commit of 400 MiB, which Git reads whole, is half a MB of a pack. */
    @Test
    void aProcessThatWantsTooMuchMemoryFails() throws Exception {
        byte[] pack = pack(new byte[1 << 20], 400);

        assertThat(pack).hasSizeLessThan(1 << 20);
        assertThat(push(pack)).contains("unpack ").doesNotContain("unpack ok");
    }

    @Test
    void aPushLargerThanItsLimitFails() throws Exception {
        backend = new GitBackend(new AppProxyConfig.Git(repositories, true, false, 1, Duration.ofHours(1),
                ByteSize.parse("256MiB"), ByteSize.parse("1MiB")), clock);
        byte[] noise = new byte[2 << 20];
        new Random(7).nextBytes(noise);

        assertThat(push(pack(noise, 1))).contains("unpack ").doesNotContain("unpack ok");
        assertThat(push(pack(Arrays.copyOf(noise, 1 << 19), 1))).contains("unpack ok");
    }

    @Test
    void hooksLearnWhoPushes() throws Exception {
        Path hook = Files.writeString(repositories.resolve("demo.git/hooks/pre-receive"), """
                #!/bin/sh
                echo "$REMOTE_USER|$CULVERT_ACCOUNT|$GIT_COMMITTER_NAME|$GIT_COMMITTER_EMAIL" > who
                """);
        assertThat(hook.toFile().setExecutable(true)).isTrue();
        var ann = new AuthenticatedCaller("acme", "u1", "Ann Ä", "ann@example.com", false);

        push(new byte[0], "1".repeat(40) + " " + "0".repeat(40) + " refs/heads/gone",
                new PushRights(ann, true, false));

        assertThat(repositories.resolve("demo.git/who")).hasContent("u1|acme|Ann Ä|ann@example.com");
    }

    /** A caller's rights are no more than those that the repository's own configuration gives. */
    @Test
    void theRepositoryKeepsWhatItsOwnConfigurationKeeps() throws Exception {
        Path demo = repositories.resolve("demo.git");
        String commit = commit(demo);
        GitCommand.git(demo, "update-ref", "refs/heads/main", commit);
        GitCommand.git(demo, "update-ref", "refs/heads/release", commit);
        GitCommand.git(demo, "config", "receive.denyDeletes", "true");
        GitCommand.git(demo, "config", "receive.hideRefs", "refs/heads/release");
        var all = new PushRights(null, true, true);
        String deletes = commit + " " + "0".repeat(40) + " refs/heads/";

        assertThat(push(new byte[0], deletes + "main", all))
                .contains("ng refs/heads/main deletion prohibited");
        GitCommand.git(demo, "config", "--unset", "receive.denyDeletes");
        assertThat(push(new byte[0], deletes + "release", all)).contains("ng refs/heads/release deny");
        assertThat(push(new byte[0], deletes + "main", all)).contains("ok refs/heads/main");

        assertThat(GitCommand.git(demo, "for-each-ref", "--format=%(refname)"))
                .isEqualTo("refs/heads/release");
    }

    private static String commit(Path repository) throws IOException, InterruptedException {
        return GitCommand.git(repository, "commit-tree", "-m", "first",
                GitCommand.git(repository, "hash-object", "-w", "-t", "tree", "/dev/null"));
    }

    @Test
    void pushesThatAreJudgedAreBounded() {
        PushRights.Rules never = updates -> Mono.never();
        List<Disposable> judged = new ArrayList<>();
        for (int i = 0; i < GitBackend.MAX_JUDGED; i++) {
            EdgeRequest request = request("demo.git/git-receive-pack", begun(Flux.never()));
            judged.add(backend.serve(GitCall.of(request), request, "a", never)
                    .subscribe(response -> {}, failed -> {}));
        }

        EdgeRequest more = request("demo.git/git-receive-pack", begun(Flux.never()));
        StepVerifier.create(backend.serve(GitCall.of(more), more, "a", never))
                .verifyErrorSatisfies(error -> refused(error, Reason.OVERLOADED));
        EdgeRequest other = request("demo.git/git-receive-pack", begun(Flux.never()));
        StepVerifier.create(backend.serve(GitCall.of(other), other, "b",
                updates -> Mono.error(HandlerException.of(Reason.FORBIDDEN, "not you"))))
                .verifyErrorSatisfies(error -> refused(error, Reason.FORBIDDEN));
        assertThat(judged).filteredOn(Disposable::isDisposed).as("one gave way").hasSize(1);

        judged.forEach(Disposable::dispose);
        assertThat(backend.available()).isEqualTo(1);
    }

    @Test
    void aCompressedPushIsReadAsGitReadsIt() throws Exception {
        byte[] pack = pack(
                "tree 4b825dc642cb6eb9a060e54bf8d69288fbee4904\n".getBytes(StandardCharsets.US_ASCII), 1);
        EdgeRequest request = request("demo.git/git-receive-pack", Flux.defer(() -> {
            String command = "0".repeat(40) + " " + "1".repeat(40) + " refs/notes/x\0report-status";
            var plain = new ByteArrayOutputStream();
            plain.writeBytes(String.format("%04x%s0000", command.length() + 4, command)
                    .getBytes(StandardCharsets.US_ASCII));
            plain.writeBytes(pack);
            return Flux.just(Unpooled.wrappedBuffer(gzip(plain.toByteArray(), 1)));
        }));
        request.headers().set("content-encoding", "gzip");
        List<RefUpdate> asked = new ArrayList<>();

        String answer = text(backend.serve(GitCall.of(request), request, "a", updates -> {
            asked.addAll(updates);
            return Mono.just(PushRights.NONE);
        }));

        assertThat(asked).containsExactly(new RefUpdate("refs/notes/x", RefUpdate.Kind.CREATE));
        assertThat(answer).contains("ng refs/notes/x");
    }

    @Test
    void aPushThatIsRefusedStartsNoProcess() {
        EdgeRequest request = request("demo.git/git-receive-pack", begun(Flux.never()));

        StepVerifier.create(backend.serve(GitCall.of(request), request, "a",
                updates -> Mono.error(HandlerException.of(Reason.FORBIDDEN, "not you"))))
                .verifyErrorSatisfies(error -> refused(error, Reason.FORBIDDEN));
        assertThat(backend.available()).isEqualTo(1);
    }

    /** What Git answers to a push of a pack. */
    private String push(byte[] pack) {
        return push(pack, CREATE, PushRights.NONE);
    }

    private String push(byte[] pack, String command, PushRights rights) {
        awaitFree();
        String head = command + "\0report-status";
        ByteBuf body = Unpooled.buffer()
                .writeBytes(String.format("%04x%s0000", head.length() + 4, head)
                        .getBytes(StandardCharsets.US_ASCII))
                .writeBytes(pack);

        EdgeRequest request = request("demo.git/git-receive-pack", Flux.defer(() -> Flux.just(body)));
        return text(backend.serve(GitCall.of(request), request, "a", updates -> Mono.just(rights)));
    }

    private static String text(Mono<EdgeResponse> served) {
        return Objects.requireNonNull(served.flatMapMany(response -> ((EdgeResponse.Http) response).body())
                .map(GitBackendTest::text)
                .reduce("", String::concat)
                .block(TIME));
    }

    private static byte[] gzip(byte[] text, int times) {
        var packed = new ByteArrayOutputStream();
        try (var gzip = new GZIPOutputStream(packed)) {
            for (int i = 0; i < times; i++) {
                gzip.write(text);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return packed.toByteArray();
    }

    /** A pack of one commit (gitformat-pack(5)): the block, again and again. */
    private static byte[] pack(byte[] block, int times) throws Exception {
        int size = block.length * times;
        var pack = new ByteArrayOutputStream();
        pack.writeBytes("PACK\0\0\0\2\0\0\0\1".getBytes(StandardCharsets.ISO_8859_1));
        int rest = size >>> 4;
        pack.write(0x80 | 1 << 4 | size & 0xf);
        while (rest > 0x7f) {
            pack.write(0x80 | rest & 0x7f);
            rest >>>= 7;
        }
        pack.write(rest);
        try (var deflated = new DeflaterOutputStream(pack)) {
            for (int i = 0; i < times; i++) {
                deflated.write(block);
            }
        }
        pack.writeBytes(MessageDigest.getInstance("SHA-1").digest(pack.toByteArray()));
        return pack.toByteArray();
    }

    private void awaitFree() {
        await().atMost(TIME).until(() -> backend.available() == 1);
    }

    private Mono<EdgeResponse> serve(String path, Flux<ByteBuf> body) {
        return serve(path, body, "a");
    }

    private Mono<EdgeResponse> serve(String path, Flux<ByteBuf> body, String account) {
        EdgeRequest request = request("demo.git/" + path, body);
        return backend.serve(GitCall.of(request), request, account, ANY);
    }

    private EdgeResponse.Http unread(String account) {
        return (EdgeResponse.Http) Objects
                .requireNonNull(serve(ADVERTISEMENT, Flux.empty(), account).block(TIME));
    }

    /**
     * As {@link #unread}, again while the place is taken. On a busy machine the end of the stalled request's
     * body is noticed after the clock has moved: its time is over then, and its place is free a moment later.
     */
    private EdgeResponse.Http unreadSoon(String account) {
        long deadline = System.nanoTime() + TIME.toNanos();
        while (true) {
            try {
                return unread(account);
            } catch (HandlerException busy) {
                if (System.nanoTime() > deadline) {
                    throw busy;
                }
            }
        }
    }

    /** The first bytes of a push, then more. */
    private static Flux<ByteBuf> begun(Flux<ByteBuf> more) {
        return Flux.concat(
                Flux.defer(() -> Flux.just(Unpooled.copiedBuffer(
                        String.format("%04x%s0000", CREATE.length() + 4, CREATE),
                        StandardCharsets.US_ASCII))),
                more);
    }

    private static void refused(Throwable error, Reason reason) {
        assertThat(error).isInstanceOfSatisfying(HandlerException.class,
                refusal -> assertThat(refusal.reason()).isEqualTo(reason));
    }

    private static EdgeRequest request(String path, Flux<ByteBuf> body) {
        HttpMethod method = path.contains("info/refs") ? HttpMethod.GET : HttpMethod.POST;
        var headers = new DefaultHttpHeaders().set("content-type", "application/x-git-receive-pack-request");
        return new EdgeRequest(method, GitProvider.MOUNT + path, headers, body,
                RequestContext.of("r", InetSocketAddress.createUnresolved("127.0.0.1", 1)));
    }

    private static String text(ByteBuf buffer) {
        try {
            return buffer.toString(StandardCharsets.US_ASCII);
        } finally {
            buffer.release();
        }
    }
}
