package dev.culvert.appproxy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.culvert.edge.spi.EdgeRequest;
import dev.culvert.edge.spi.EdgeResponse;
import dev.culvert.edge.spi.HandlerException;
import dev.culvert.edge.spi.HandlerException.Reason;
import dev.culvert.edge.spi.RequestContext;
import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http.DefaultHttpHeaders;
import io.netty.handler.codec.http.HttpMethod;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.test.StepVerifier;
import reactor.test.publisher.TestPublisher;

class GitBackendTest {
    private static final Duration TIME = Duration.ofSeconds(20);

    @TempDir
    Path repositories;

    private GitBackend backend = new GitBackend(AppProxyConfig.Git.of(Path.of("")));

    @BeforeEach
    void start() throws IOException, InterruptedException {
        GitCommand.git(repositories, "init", "--quiet", "--bare", "demo.git");
        backend = new GitBackend(new AppProxyConfig.Git(repositories, true, 1, Duration.ofHours(1)));
    }

    @AfterEach
    void stop() {
        backend.stop().block(TIME);
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

        StepVerifier.create(backend.serve(GitCall.of(request), request))
                .verifyErrorSatisfies(
                        error -> assertThat(((HandlerException) error).reason()).isEqualTo(Reason.NOT_FOUND));
        awaitFree();
    }

    @Test
    void cancellingTheAnswerCancelsTheRequestsBody() {
        TestPublisher<ByteBuf> body = TestPublisher.create();
        var response = (EdgeResponse.Http) Objects
                .requireNonNull(serve("git-receive-pack", body.flux()).block(TIME));

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
        Flux<ByteBuf> answer = serve("git-receive-pack", Flux.never())
                .flatMapMany(response -> ((EdgeResponse.Http) response).body());

        StepVerifier.create(answer).then(() -> backend.stop().block(TIME)).expectError().verify(TIME);

        awaitFree();
    }

    private void awaitFree() {
        await().atMost(TIME).until(() -> backend.available() == 1);
    }

    private Mono<EdgeResponse> serve(String path, Flux<ByteBuf> body) {
        EdgeRequest request = request("demo.git/" + path, body);
        return backend.serve(GitCall.of(request), request);
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
