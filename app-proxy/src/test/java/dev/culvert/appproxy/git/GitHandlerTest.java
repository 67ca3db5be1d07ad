package dev.culvert.appproxy.git;

import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.appproxy.AppProxyConfig;
import dev.culvert.appproxy.access.Access;
import dev.culvert.appproxy.access.AuthenticatedCaller;
import dev.culvert.appproxy.access.Operation;
import dev.culvert.handlers.spi.EdgeRequest;
import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.handlers.spi.HandlerException.Reason;
import dev.culvert.handlers.spi.RequestContext;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http.DefaultHttpHeaders;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpMethod;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;
import reactor.test.StepVerifier;

class GitHandlerTest {
    @TempDir
    Path folder;

    private final List<Operation> asked = new ArrayList<>();
    private final List<Operation> changed = new ArrayList<>();
    private final List<Operation> also = new ArrayList<>();
    private final AtomicBoolean read = new AtomicBoolean();
    private final Access access = new Rules();
    private GitBackend backend = new GitBackend(AppProxyConfig.Git.of(Path.of("")), Schedulers.parallel());

    /** Ann may do everything, Bob nothing. */
    private final class Rules implements Access {
        @Override
        public Mono<AuthenticatedCaller> caller(HttpHeaders headers) {
            String field = headers.get("authorization", "");
            return field.equals("Bearer ann") || field.equals("Bearer bob")
                    ? Mono.just(new AuthenticatedCaller("acme", field, field, field + "@example.com", false))
                    : Mono.error(HandlerException.of(Reason.UNAUTHORIZED, "who are you"));
        }

        @Override
        public Mono<Void> allow(AuthenticatedCaller caller, Operation operation) {
            asked.add(operation);
            return caller.id().equals("Bearer ann")
                    ? Mono.empty()
                    : Mono.error(HandlerException.of(Reason.FORBIDDEN, "not you"));
        }

        @Override
        public <T> Mono<T> change(AuthenticatedCaller caller, Operation operation, List<Operation> also,
                RequestContext context, Mono<T> change) {
            changed.add(operation);
            GitHandlerTest.this.also.add(operation);
            GitHandlerTest.this.also.addAll(also);
            return allow(caller, operation).then(change);
        }
    }

    @AfterEach
    void stop() {
        backend.stop().block(Duration.ofSeconds(20));
    }

    @Test
    void gitAsksItsUserForAnApiKey() {
        StepVerifier.create(fetch("")).verifyErrorSatisfies(error -> {
            refused(error, Reason.UNAUTHORIZED);
            assertThat(((HandlerException) error).fields().get("www-authenticate")).startsWith("Basic ");
        });
        assertThat(read).isFalse();
    }

    @Test
    void whoMayNotSeeARepositoryFetchesNothing() {
        StepVerifier.create(fetch("Basic " + base64("git:bob")))
                .verifyErrorSatisfies(error -> refused(error, Reason.FORBIDDEN));

        assertThat(read).isFalse();
        assertThat(asked).singleElement()
                .isEqualTo(new Operation("VIEW", "gitRepositories", "none",
                        Map.of("repository", "none")));
    }

    @Test
    void whoMaySeeItIsServed() {
        for (String field : List.of("Bearer ann", "Basic " + base64("whoever:ann"))) {
            StepVerifier.create(fetch(field)).verifyErrorSatisfies(error -> refused(error, Reason.NOT_FOUND));
        }
    }

    @Test
    void aPushIsAChangeOnRecord() {
        StepVerifier.create(handler().handle(push("Bearer bob", update("1", "2", "refs/heads/main"))))
                .verifyErrorSatisfies(error -> refused(error, Reason.FORBIDDEN));

        assertThat(changed).singleElement()
                .isEqualTo(Operation.ofOne("UPDATE", "gitRepositories", "none@main",
                        Map.of("repository", "none", "branch", "main")));
    }

    @Test
    void rulesDecideOnEachRefOfAPush() {
        StepVerifier.create(handler().handle(push("Bearer ann", update("0", "1", "refs/heads/new"),
                update("1", "0", "refs/heads/old"), update("1", "2", "refs/heads/main"),
                update("1", "2", "refs/tags/v1"), update("0", "1", "refs/notes/x"))))
                .verifyErrorSatisfies(error -> refused(error, Reason.NOT_FOUND));

        assertThat(also)
                .extracting(operation -> operation.action() + " " + operation.attributes().get("branch"))
                .containsExactly("DELETE old", "DELETE refs/tags/v1", "UPDATE new", "UPDATE main",
                        "UPDATE refs/notes/x");
        assertThat(asked)
                .extracting(operation -> operation.action() + " " + operation.attributes().get("branch"))
                .containsExactly("DELETE main", "DELETE old");
    }

    @Test
    void theRecordOfAPushBeginsWithWhatItLoses() {
        Stream<String> packets = Stream.concat(
                IntStream.range(0, 20).mapToObj(i -> update("0", "1", "refs/heads/new" + i % 10)),
                Stream.of(update("1", "0", "refs/heads/old")));

        StepVerifier.create(handler().handle(push("Bearer ann", packets.toArray(String[]::new))))
                .verifyErrorSatisfies(error -> refused(error, Reason.NOT_FOUND));

        assertThat(changed).singleElement()
                .isEqualTo(Operation.ofOne("DELETE", "gitRepositories",
                        "none@old,new0,new1,new2,new3 and 16 more",
                        Map.of("repository", "none", "branch", "old")));
        assertThat(also).as("each ref once").hasSize(11);
    }

    @Test
    void aPushHasItsLimits() {
        String[] refs = IntStream.rangeClosed(0, PushHead.MAX_UPDATES)
                .mapToObj(i -> update("0", "1", "refs/heads/new" + i))
                .toArray(String[]::new);
        String shallow = "0034shallow " + "1".repeat(40);

        StepVerifier.create(handler().handle(push("Bearer ann", refs)))
                .verifyErrorSatisfies(error -> assertThat(error).hasMessageContaining("at most 250 refs"));
        StepVerifier.create(handler().handle(push("Bearer ann", shallow.repeat(6000))))
                .verifyErrorSatisfies(error -> assertThat(error).hasMessageContaining("at most 256 KiB"));
        assertThat(changed).isEmpty();
    }

    @Test
    void whatIsNoPushIsRefused() {
        for (String body : List.of("", "zzzz", "0003", "000fpush-cert\0x\n0000",
                "0032" + "1".repeat(40) + " short\n")) {
            StepVerifier.create(handler().handle(request("git-receive-pack", "Bearer ann", body)))
                    .verifyErrorSatisfies(error -> refused(error, Reason.BAD_REQUEST));
        }
    }

    private EdgeRequest push(String authorization, String... packets) {
        return request("git-receive-pack", authorization, String.join("", packets) + "0000");
    }

    private static String update(String before, String after, String ref) {
        String text = before.repeat(40) + " " + after.repeat(40) + " " + ref + "\n";
        return String.format("%04x%s", text.length() + 4, text);
    }

    @Test
    void readsMayBeOpenToAllAndPushesAreNot() {
        StepVerifier.create(handler(true).handle(request("git-upload-pack", "")))
                .verifyErrorSatisfies(error -> refused(error, Reason.NOT_FOUND));
        assertThat(asked).isEmpty();

        StepVerifier.create(handler(true).handle(request("git-receive-pack", "")))
                .verifyErrorSatisfies(error -> refused(error, Reason.UNAUTHORIZED));
    }

    private Mono<?> fetch(String authorization) {
        return handler().handle(request("git-upload-pack", authorization));
    }

    private GitHandler handler() {
        return handler(false);
    }

    private GitHandler handler(boolean anonymousReads) {
        backend = new GitBackend(new AppProxyConfig.Git(folder, true, false, 1, Duration.ofHours(1)),
                Schedulers.parallel());
        return new GitHandler(backend, access, true, false, anonymousReads);
    }

    private EdgeRequest request(String service, String authorization) {
        return request(service, authorization, "");
    }

    private EdgeRequest request(String service, String authorization, String body) {
        return new EdgeRequest(HttpMethod.POST, GitProvider.MOUNT + "none.git/" + service,
                new DefaultHttpHeaders().set("authorization", authorization),
                Flux.defer(() -> {
                    read.set(true);
                    return body.isEmpty()
                            ? Flux.empty()
                            : Flux.just(Unpooled.copiedBuffer(body, StandardCharsets.US_ASCII));
                }), RequestContext.of("r", InetSocketAddress.createUnresolved("127.0.0.1", 1)));
    }

    private static String base64(String text) {
        return Base64.getEncoder().encodeToString(text.getBytes(StandardCharsets.US_ASCII));
    }

    private static void refused(Throwable error, Reason reason) {
        assertThat(error).isInstanceOfSatisfying(HandlerException.class,
                refusal -> assertThat(refusal.reason()).isEqualTo(reason));
    }
}
