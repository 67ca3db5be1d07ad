package dev.culvert.web;

import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.handlers.spi.EdgeRequest;
import dev.culvert.handlers.spi.EdgeResponse;
import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.handlers.spi.HandlerException.Reason;
import dev.culvert.handlers.spi.RequestContext;
import dev.culvert.http.quota.SourceAddress;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http.DefaultHttpHeaders;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.util.NetUtil;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** A site without pages of its own. */
class SiteTest {
    private Mono<Boolean> valid = Mono.just(true);
    private boolean isBusy;

    private final Site encrypted = site(null);

    private static HandlerException busy() {
        return HandlerException.of(Reason.OVERLOADED, "the store is busy").retryAfter(Duration.ofSeconds(1));
    }

    private Site site(@Nullable String unencrypted) {
        return new Site(new Site.Parts("Test", "", "", unencrypted, List.of(),
                List.of(PageRoute.get("/",
                        request -> Mono.just(PageAnswer.View.of("Home", "/", output -> output.writeContent(
                                "home of " + request.session().user().name()))))),
                Assets.load(),
                token -> isBusy
                        ? Mono.error(busy())
                        : token.equals("right")
                                ? Mono.just(new WebUser(() -> "ada", "read", Mono.defer(() -> valid)))
                                : Mono.empty(),
                Clock.systemUTC()));
    }

    private record Answer(EdgeResponse.Http http, String text) {
        int status() {
            return http.status().code();
        }

        String field(String name) {
            return http.headers().get(name, "");
        }
    }

    private static Answer ask(Site site, HttpMethod method, String target, String peer, String body,
            String... fields) {
        HttpHeaders headers = new DefaultHttpHeaders().set("host", "localhost:9090")
                .set("origin", "http://localhost:9090");
        for (int i = 0; i < fields.length; i += 2) {
            headers.set(fields[i], fields[i + 1]);
        }
        ByteBuf content = Unpooled.copiedBuffer(body, StandardCharsets.UTF_8);
        var request = new EdgeRequest(method, target, headers, Flux.just(content),
                RequestContext.of("r1", new InetSocketAddress(
                        NetUtil.createInetAddressFromIpAddressString(peer), 4711)));
        var http = (EdgeResponse.Http) Objects
                .requireNonNull(site.handle(request).block(Duration.ofSeconds(10)));
        String text = Objects.requireNonNull(http.body().map(buffer -> {
            String part = buffer.toString(StandardCharsets.UTF_8);
            buffer.release();
            return part;
        }).collect(Collectors.joining()).block(Duration.ofSeconds(10)));
        return new Answer(http, text);
    }

    private static Answer get(Site site, String target, String... fields) {
        return ask(site, HttpMethod.GET, target, "127.0.0.1", "", fields);
    }

    private static Answer enter(Site site, String peer, String token, String... fields) {
        return ask(site, HttpMethod.POST, "/login", peer, "token=" + token, fields);
    }

    private static String cookie(Answer answer) {
        String set = answer.field("set-cookie");
        return set.substring(0, set.indexOf(';'));
    }

    @Test
    void listenerThatDoesNotEncryptHasNoLoginForOtherMachines() {
        Site plain = site("Forward a port.");

        for (Answer refused : List.of(
                ask(plain, HttpMethod.GET, "/login", "192.0.2.7", ""),
                enter(plain, "192.0.2.7", "right"))) {
            assertThat(refused.status()).isEqualTo(403);
            assertThat(refused.text()).contains("not encrypted", "Forward a port.").doesNotContain("<form");
            assertThat(refused.field("set-cookie")).isEmpty();
        }
        assertThat(get(plain, "/login").text()).contains("<form");
        assertThat(enter(plain, "127.0.0.1", "right").status()).isEqualTo(303);
        assertThat(enter(encrypted, "192.0.2.7", "right").status()).isEqualTo(303);
    }

    @Test
    void loginWhoseTokenCanNotBeJudgedMayBeRepeated() {
        isBusy = true;

        Answer answer = enter(encrypted, "127.0.0.1", "right");

        assertThat(answer.status()).isEqualTo(503);
        assertThat(answer.field("retry-after")).isEqualTo("1");
        assertThat(answer.text()).contains("the store is busy", "<form");
    }

    @Test
    void sessionThatCanNotBeJudgedStays() {
        String cookie = cookie(enter(encrypted, "127.0.0.1", "right"));
        valid = Mono.error(busy());

        Answer refused = get(encrypted, "/", "cookie", cookie);
        valid = Mono.just(true);

        assertThat(refused.status()).isEqualTo(503);
        assertThat(refused.field("retry-after")).isEqualTo("1");
        assertThat(refused.text()).contains("the store is busy").doesNotContain("ada");
        assertThat(get(encrypted, "/", "cookie", cookie).text()).contains("home of ada");
    }

    @ParameterizedTest
    @CsvSource({"localhost:9090, __Host-culvert-9090", "localhost, __Host-culvert",
            "[::1]:9091, __Host-culvert-9091", "[::1], __Host-culvert", "a:x=1, __Host-culvert",
            "a:, __Host-culvert", "a:123456, __Host-culvert"})
    void nameOfTheCookieHasTheBrowsersPort(String host, String name) {
        Answer answer = enter(encrypted, "127.0.0.1", "right", "host", host, "origin", "http://" + host);

        assertThat(cookie(answer)).startsWith(name + "=");
    }

    @Test
    void sessionOfAnotherPortIsNotEnded() {
        String first = cookie(enter(encrypted, "127.0.0.1", "right"));
        Answer other = get(encrypted, "/", "cookie", first, "host", "localhost:9091");

        assertThat(other.status()).isEqualTo(303);
        assertThat(get(encrypted, "/", "cookie", first + "; __Host-culvert-9091=x").status()).isEqualTo(200);
    }

    @Test
    void validTokenEntersFromAnAddressWithTooManyFailures() {
        for (int i = 0; i < LoginLimit.MAX_FAILURES; i++) {
            assertThat(enter(encrypted, "192.0.2.7", "wrong").status()).isEqualTo(401);
        }

        assertThat(enter(encrypted, "192.0.2.7", "wrong").status()).isEqualTo(429);
        assertThat(enter(encrypted, "192.0.2.8", "wrong").status()).isEqualTo(401);
        assertThat(enter(encrypted, "192.0.2.7", "right").status()).isEqualTo(303);
    }

    @Test
    void linesAboutFailedLoginsAreBounded() {
        var limit = new LoginLimit(Clock.systemUTC());
        int told = 0;
        for (int i = 0; i < LoginLimit.MAX_TOLD + 50; i++) {
            told += limit.failed(new SourceAddress(i, false)).told() ? 1 : 0;
        }

        assertThat(told).isEqualTo(LoginLimit.MAX_TOLD);
    }
}
