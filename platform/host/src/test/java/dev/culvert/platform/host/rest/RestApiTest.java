package dev.culvert.platform.host.rest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.culvert.handlers.spi.EdgeRequest;
import dev.culvert.handlers.spi.EdgeResponse;
import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.handlers.spi.HandlerException.Reason;
import dev.culvert.handlers.spi.RequestContext;
import dev.culvert.http.observe.AuditTrail;
import dev.culvert.platform.host.rest.RestCall.Who;
import dev.culvert.platform.host.spi.Callers;
import dev.culvert.platform.host.spi.PlatformCaller;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http.DefaultHttpHeaders;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpResponseStatus;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

class RestApiTest {
    private static final Duration TIME = Duration.ofSeconds(30);
    private static final String DIGITS = "0123456789";

    @TempDir
    Path folder;
    private AuditTrail audit;
    private final List<String> asked = new ArrayList<>();
    private boolean isAllowed = true;

    @BeforeEach
    void open() {
        audit = AuditTrail.in(folder, Clock.systemUTC());
    }

    @AfterEach
    void close() {
        audit.close().block(TIME);
    }

    private RestApi api(RestCall... calls) {
        return new RestApi("things", List.of(calls), new OneUser(), (caller, entity, action, attributes) -> {
            asked.add(action + " " + entity + " " + attributes);
            return isAllowed
                    ? Mono.empty()
                    : Mono.error(HandlerException.of(Reason.FORBIDDEN, "no rule allows it"));
        }, audit);
    }

    private static EdgeRequest request(HttpMethod method, String target, String from, String body) {
        return new EdgeRequest(method, target, new DefaultHttpHeaders().set("authorization", "jo"),
                Flux.defer(() -> Flux.just(Unpooled.wrappedBuffer(body.getBytes(StandardCharsets.UTF_8)))),
                RequestContext.of("r", new InetSocketAddress(from, 1)));
    }

    private static EdgeResponse answer(RestApi api, HttpMethod method, String target) {
        return Objects.requireNonNull(api.handle(request(method, target, "192.0.2.1", "")).block(TIME));
    }

    private static EdgeResponse ok() {
        return EdgeResponse.Http.empty(HttpResponseStatus.OK);
    }

    @Test
    void rulesAreAskedWithTheAttributesOfTheCall() throws IOException {
        RestApi api = api(RestCall.of(HttpMethod.DELETE, "/api/things/{name}/{part}",
                Right.of("pipelines", "DELETE").by("name", "name"), "Deletes it", scope -> {
                    scope.content().accept(" part " + scope.segment("part"));
                    return Mono.just(ok());
                }));

        answer(api, HttpMethod.DELETE, "/api/things/shop%2Fweb+1/2");
        isAllowed = false;

        assertThatThrownBy(() -> answer(api, HttpMethod.DELETE, "/api/things/bank/2"))
                .hasMessage("no rule allows it");
        answer(api, HttpMethod.DELETE, "/api/things/bank/2?account=another");

        assertThat(asked).containsExactly("DELETE pipelines {name=shop/web+1}",
                "DELETE pipelines {name=bank}"); // operators may do anything in accounts that they name
        audit.close().block(TIME);
        assertThat(Files.readString(folder.resolve("audit-changes.log"))).contains("part 2", "\"another\"");
        assertThat(Files.readString(folder.resolve("audit-refused.log"))).contains("no rule allows it");
    }

    @Test
    void runtimesAreNoMembers() {
        RestApi api = api(RestCall.of(HttpMethod.GET, "/api/things", Right.of("pipelines", "VIEW"), "",
                scope -> Mono.just(ok())));
        EdgeRequest request = request(HttpMethod.GET, "/api/things", "192.0.2.1", "");
        request.headers().set("authorization", "runtime");

        assertThatThrownBy(() -> api.handle(request).block(TIME)).hasMessage("only users may do this");
    }

    @Test
    void whoeverGuessesTooOftenHasToWait() {
        RestApi api = api(RestCall.of(HttpMethod.POST, "/hook/{id}", Who.ANYONE, "",
                scope -> scope.judging(scope.segment("id") + " " + scope.query("account"),
                        "right".equals(scope.query("secret"))
                                ? Mono.just(ok())
                                : Mono.error(
                                        HandlerException.of(Reason.FORBIDDEN, "the secret is wrong"))))
                .asks("account", "secret"));
        for (int i = 0; i < FailurePace.BURST; i++) {
            assertThatThrownBy(() -> answer(api, HttpMethod.POST, "/hook/1?account=a&secret=wrong"))
                    .hasMessage("the secret is wrong");
        }

        assertThatThrownBy(() -> answer(api, HttpMethod.POST, "/hook/1?account=a&secret=right"))
                .hasMessageContaining("too many calls from this address")
                .satisfies(failed -> assertThat(((HandlerException) failed).retryAfter()).isPositive());

        assertThatThrownBy(() -> answer(api, HttpMethod.POST, "/hook/%31?secret=right&account=%61"))
                .hasMessageContaining("too many calls from this address"); // the same in other letters
        // What one account has wrong is nothing to another one, or to another address.
        answer(api, HttpMethod.POST, "/hook/1?account=b&secret=right");
        answer(api, HttpMethod.POST, "/hook/2?account=a&secret=right");
        api.handle(request(HttpMethod.POST, "/hook/1?account=a&secret=right", "192.0.2.2", "")).block(TIME);
    }

    @Test
    void aBodyIsOfItsMediaTypeAndSize() {
        RestApi api = api(RestCall.of(HttpMethod.POST, "/hook", Who.ANYONE, "",
                scope -> scope.bytes().map(bytes -> ok()))
                .takes(new RawBody(Set.of("application/yaml"), DIGITS.length())));
        for (Map.Entry<String, String> wrong : Map.of("text/plain", DIGITS, "", DIGITS).entrySet()) {
            EdgeRequest request = request(HttpMethod.POST, "/hook", "192.0.2.1", wrong.getValue());
            request.headers().set("content-type", wrong.getKey());
            assertThatThrownBy(() -> api.handle(request).block(TIME))
                    .hasMessageContaining("(expected: one of [application/yaml])");
        }
        EdgeRequest right = request(HttpMethod.POST, "/hook", "192.0.2.1", DIGITS);
        right.headers().set("content-type", "Application/YAML; charset=utf-8");
        api.handle(right).block(TIME);
        EdgeRequest large = request(HttpMethod.POST, "/hook", "192.0.2.1", DIGITS + "0");
        large.headers().set("content-type", "application/yaml");

        assertThatThrownBy(() -> api.handle(large).block(TIME)).hasMessageContaining("larger than 10 bytes");
    }

    /** {@code jo}, an operator, and {@code runtime}. */
    private record OneUser() implements Callers {
        @Override
        public Mono<PlatformCaller> caller(HttpHeaders headers, RequestContext context) {
            return Mono.just(new Known(String.valueOf(headers.get("authorization"))));
        }

        @Override
        public Mono<String> account(PlatformCaller caller, String id) {
            return Mono.just(id);
        }
    }

    private record Known(String getName) implements PlatformCaller {
        @Override
        public String account() {
            return "main";
        }

        @Override
        public @Nullable String userId() {
            return getName.equals("jo") ? getName : null;
        }

        @Override
        public @Nullable String runtime() {
            return getName.equals("jo") ? null : getName;
        }

        @Override
        public boolean isAdmin() {
            return getName.equals("jo");
        }

        @Override
        public boolean isOperator() {
            return getName.equals("jo");
        }
    }
}
