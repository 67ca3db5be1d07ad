package dev.culvert.appproxy.access;

import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.handlers.spi.HandlerException.Reason;
import dev.culvert.handlers.spi.RequestContext;
import dev.culvert.http.observe.AuditTrail;
import io.netty.handler.codec.http.DefaultHttpHeaders;
import io.netty.handler.codec.http.HttpHeaders;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import reactor.core.publisher.Mono;
import reactor.test.StepVerifier;

class ControlPlaneAccessTest {
    private static final AuthenticatedCaller JO = new AuthenticatedCaller("acc", "jo", "Jo", "jo@acme.test",
            false);
    private static final Operation TERMINATE = new Operation("TERMINATE", "workflows", "argo/build-42",
            Map.of("namespace", "argo"));
    private static final RequestContext CONTEXT = RequestContext.of("req-1",
            new InetSocketAddress(InetAddress.getLoopbackAddress(), 1));

    @TempDir
    Path folder;

    private final AtomicLong now = new AtomicLong();
    private final AtomicInteger changes = new AtomicInteger();
    private final Told told = new Told();
    private AuditTrail audit;
    private ControlPlaneAccess access;

    /** A control plane whose answers a test sets. */
    private static final class Told implements AccessDirectory {
        private String state = "known";
        private boolean admin;
        private boolean allowed;
        private String forbidden = "";
        private boolean away;

        @Override
        public Mono<Answers.Resolved> resolve(String token) {
            return there(() -> new Answers.Resolved(state,
                    new Answers.User("jo", "acc", "Jo", "jo@acme.test", admin), null));
        }

        @Override
        public Mono<Answers.Decision> decide(String user, Operation operation) {
            return there(
                    () -> new Answers.Decision(allowed && !operation.action().equals(forbidden), "because"));
        }

        @Override
        public Mono<Answers.Changes> changes(long since) {
            return there(() -> new Answers.Changes(0, false, false, List.of()));
        }

        @Override
        public Mono<Boolean> reachableAt(URI url) {
            return there(() -> true);
        }

        private <T> Mono<T> there(Supplier<T> answer) {
            return Mono.defer(() -> away
                    ? Mono.error(new ControlPlaneAway("the connection was refused"))
                    : Mono.fromSupplier(answer));
        }
    }

    @BeforeEach
    void make() {
        audit = AuditTrail.in(folder, Clock.systemUTC());
        access = new ControlPlaneAccess(told,
                ControlPlaneSettings.of(URI.create("http://127.0.0.1:1"), folder.resolve("t"), null), audit,
                now::get);
    }

    @AfterEach
    void close() {
        audit.close().block(Duration.ofSeconds(10));
    }

    @Test
    void readsTheTokenBareBehindBearerAndInItsOwnField() {
        for (HttpHeaders fields : List.of(new DefaultHttpHeaders().set("authorization", "tok"),
                new DefaultHttpHeaders().set("authorization", "Bearer tok"),
                new DefaultHttpHeaders().set("x-access-token", "tok"))) {
            assertThat(access.caller(fields).block()).isEqualTo(JO);
        }
        refused(access.caller(new DefaultHttpHeaders()), Reason.UNAUTHORIZED);
        refused(access.caller(new DefaultHttpHeaders().set("authorization", "two words")),
                Reason.UNAUTHORIZED);
        refused(access.caller(new DefaultHttpHeaders().set("authorization", "x".repeat(5_000))),
                Reason.UNAUTHORIZED);
    }

    @Test
    void anUnknownTokenIs401AndOneOfAnotherAccount404() {
        told.state = "unknown";
        refused(access.caller(token("a")), Reason.UNAUTHORIZED);
        told.state = "foreign";
        refused(access.caller(token("b")), Reason.NOT_FOUND);
    }

    @Test
    void withoutPermissionNothingIsChanged() throws IOException {
        refused(access.change(JO, TERMINATE, CONTEXT, change()), Reason.FORBIDDEN);

        assertThat(changes).hasValue(0);
        assertThat(Files.readString(folder.resolve("audit-refused.log"))).contains("\"user\":\"jo\"",
                "\"account\":\"acc\"", "\"action\":\"TERMINATE\"", "\"entity\":\"workflows\"",
                "\"object\":\"argo/build-42\"", "\"decision\":\"denied\"", "\"requestId\":\"req-1\"");
    }

    @Test
    void aChangeNeedsPermissionForAllThatItTouches() throws IOException {
        told.allowed = true;
        told.forbidden = "VIEW";
        var view = new Operation("VIEW", "gitContexts", "shop@main", Map.of("branch", "main"));

        refused(access.change(JO, TERMINATE, List.of(view), CONTEXT, change()), Reason.FORBIDDEN);

        assertThat(changes).hasValue(0);
        assertThat(Files.readString(folder.resolve("audit-refused.log"))).contains(
                "\"action\":\"VIEW\"", "\"object\":\"shop@main\"", "\"decision\":\"denied\"",
                "no permission for VIEW on gitContexts; needed for TERMINATE of argo/build-42");
    }

    @Test
    void oneOfManyObjectsIsNotRemembered() {
        told.allowed = true;
        Operation ref = Operation.ofOne("UPDATE", "gitRepositories", "shop@x", Map.of("branch", "x"));
        StepVerifier.create(access.allow(JO, ref)).verifyComplete();

        told.allowed = false;

        refused(access.allow(JO, ref), Reason.FORBIDDEN);
        told.allowed = true;
        StepVerifier.create(access.allow(JO, ref)).verifyComplete();
    }

    /** Else a flood of these would push changes that happened out of their log. */
    @Test
    void whatWasNotTriedIsARefusalInTheAuditLog() throws IOException {
        told.away = true;

        refused(access.change(JO, TERMINATE, CONTEXT, change()), Reason.UNAVAILABLE);

        assertThat(changes).hasValue(0);
        assertThat(Files.readString(folder.resolve("audit-refused.log"))).contains("\"decision\":\"denied\"",
                "the connection was refused");
        assertThat(folder.resolve("audit-changes.log")).doesNotExist();
    }

    @Test
    void aRuleThatWasAddedHoldsWithinTheTimeOfARefusal() {
        refused(access.allow(JO, TERMINATE), Reason.FORBIDDEN);
        told.allowed = true;
        refused(access.allow(JO, TERMINATE), Reason.FORBIDDEN);

        pass(6);

        StepVerifier.create(access.allow(JO, TERMINATE)).verifyComplete();
    }

    @Test
    void everyChangeIsOnRecord() throws IOException {
        told.allowed = true;
        assertThat(access.change(JO, TERMINATE, CONTEXT, change()).block()).isEqualTo("done");
        refused(access.change(JO, TERMINATE, CONTEXT,
                Mono.error(HandlerException.of(Reason.CONFLICT, "it is completed"))), Reason.CONFLICT);

        List<String> lines = Files.readAllLines(folder.resolve("audit-changes.log"));

        assertThat(lines).hasSize(2);
        assertThat(lines.get(0)).contains("\"decision\":\"allowed\"");
        assertThat(lines.get(1)).contains("\"decision\":\"failed\"", "it is completed");
    }

    @Test
    void whileTheControlPlaneIsAwayWhatIsKnownServesUntilItsTimeIsOver() {
        told.allowed = true;
        access.caller(token("a")).block();
        StepVerifier.create(access.allow(JO, TERMINATE)).verifyComplete();
        told.away = true;
        pass(59);
        assertThat(access.caller(token("a")).block()).isEqualTo(JO);
        StepVerifier.create(access.allow(JO, TERMINATE)).verifyComplete();

        pass(2);

        refused(access.caller(token("a")), Reason.UNAVAILABLE);
        StepVerifier.create(access.change(JO, TERMINATE, CONTEXT, change()))
                .expectErrorSatisfies(error -> assertThat(error).isInstanceOfSatisfying(
                        HandlerException.class, refusal -> {
                            assertThat(refusal.detail()).contains("control plane", "connection was refused");
                            assertThat(refusal.retryAfter()).isEqualTo(Duration.ofSeconds(1));
                        }))
                .verify();
        assertThat(changes).hasValue(0);
        told.away = false;
        assertThat(access.caller(token("a")).block()).isEqualTo(JO);
        StepVerifier.create(access.allow(JO, TERMINATE)).verifyComplete();
    }

    @Test
    void anAdministratorMayAll() {
        told.admin = true;
        StepVerifier.create(access.caller(token("a")).flatMap(admin -> access.allow(admin, TERMINATE)))
                .verifyComplete();
    }

    @Test
    void aQuestionIsNoLargerThanItMayBe() {
        refused(access.allow(JO,
                new Operation("VIEW", "workflows", "x", Map.of("namespace", "n".repeat(50_000)))),
                Reason.BAD_REQUEST);
    }

    private Mono<String> change() {
        return Mono.fromSupplier(() -> {
            changes.incrementAndGet();
            return "done";
        });
    }

    private void pass(int seconds) {
        now.addAndGet(Duration.ofSeconds(seconds).toNanos());
    }

    private static HttpHeaders token(String token) {
        return new DefaultHttpHeaders().set("authorization", token);
    }

    private static void refused(Mono<?> call, Reason reason) {
        StepVerifier.create(call)
                .expectErrorSatisfies(error -> assertThat(error).isInstanceOfSatisfying(
                        HandlerException.class, refusal -> assertThat(refusal.reason()).isEqualTo(reason)))
                .verify();
    }
}
