package dev.culvert.edge;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.culvert.edge.Problem.Cause;
import dev.culvert.edge.spi.EdgeHandler;
import dev.culvert.edge.spi.EdgeHandlerProvider;
import dev.culvert.edge.spi.EdgeRequest;
import dev.culvert.edge.spi.EdgeResponse;
import dev.culvert.edge.spi.HandlerContext;
import dev.culvert.edge.spi.RequestContext;
import io.netty.handler.codec.http.DefaultHttpHeaders;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpResponseStatus;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.test.StepVerifier;

class MountedHandlersTest {
    private final List<String> events = new ArrayList<>();

    @ParameterizedTest
    @CsvSource({"/a,a", "/a/,a", "/a/x?q=/a/b/,a", "/a/b,ab", "/a/b/c,ab", "/a/bc,a", "/a//b,a"})
    void theLongestMountAnswers(String target, String name) {
        var handlers = mounted(new Named("a", "/a/"), new Named("ab", "/a/b/"));

        StepVerifier.create(handlers.handle(get(target))).expectNextCount(1).verifyComplete();

        assertThat(events).containsExactly("handle " + name);
    }

    @ParameterizedTest
    @ValueSource(strings = {"/", "/b", "/ab", "/A/"})
    void otherPathsAreNotFound(String target) {
        StepVerifier.create(mounted(new Named("a", "/a/")).handle(get(target)))
                .verifyErrorSatisfies(error -> assertThat(Failure.of(error).problem().cause())
                        .isEqualTo(Cause.NOT_FOUND));
    }

    @Test
    void aPathThatNeedsNormalisingIsRefused() {
        StepVerifier.create(mounted(new Named("a", "/a/")).handle(get("/a/%2e%2e/b")))
                .verifyErrorSatisfies(error -> assertThat(Failure.of(error).problem().cause())
                        .isEqualTo(Cause.BAD_REQUEST));
        assertThat(events).isEmpty();
    }

    @Test
    void aMountHasOneHandler() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> mounted(new Named("a", "/x/"), new Named("b", "/x/")))
                .withMessageContaining("/x/");
        assertThatIllegalArgumentException().isThrownBy(() -> mounted(new Named("a", "/x")))
                .withMessageContaining("/x");
    }

    @Test
    void aHandlerThatDoesNotStartStopsTheOthers() {
        var handlers = mounted(new Named("good", "/longer/"), new Named("bad", "/b/"));

        StepVerifier.create(handlers.start()).verifyErrorMessage("bad");

        assertThat(events).contains("start good", "stop good", "stop bad");
    }

    private MountedHandlers mounted(EdgeHandlerProvider... providers) {
        return MountedHandlers.of(List.of(providers), provider -> new Context());
    }

    private static EdgeRequest get(String target) {
        return new EdgeRequest(HttpMethod.GET, target, new DefaultHttpHeaders(), Flux.empty(),
                RequestContext.of("r", InetSocketAddress.createUnresolved("127.0.0.1", 1)));
    }

    private final class Named implements EdgeHandlerProvider {
        private final String name;
        private final String mount;

        Named(String name, String mount) {
            this.name = name;
            this.mount = mount;
        }

        @Override
        public String name() {
            return name;
        }

        @Override
        public String mount() {
            return mount;
        }

        @Override
        public EdgeHandler create(HandlerContext context) {
            return request -> {
                events.add("handle " + name);
                return Mono.just(EdgeResponse.Http.empty(HttpResponseStatus.OK));
            };
        }

        @Override
        public Mono<Void> start() {
            events.add("start " + name);
            return name.equals("bad") ? Mono.error(new IllegalStateException("bad")) : Mono.empty();
        }

        @Override
        public Mono<Void> stop(Duration grace) {
            return Mono.fromRunnable(() -> events.add("stop " + name));
        }
    }

    private static final class Context implements HandlerContext {
        @Override
        public <T extends Record> T settings(Class<T> type) {
            throw new IllegalArgumentException(type.getName());
        }

        @Override
        public <S> S service(Class<S> type) {
            throw new IllegalArgumentException(type.getName());
        }

        @Override
        public String version() {
            return "1";
        }

        @Override
        public @Nullable String runtime() {
            return null;
        }

        @Override
        public List<String> handlers() {
            return List.of();
        }
    }
}
