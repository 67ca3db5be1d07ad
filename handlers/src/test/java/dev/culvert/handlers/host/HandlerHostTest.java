package dev.culvert.handlers.host;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.culvert.handlers.graphql.GraphQlField;
import dev.culvert.handlers.graphql.GraphQlFunction;
import dev.culvert.handlers.spi.EdgeHandler;
import dev.culvert.handlers.spi.EdgeHandlerProvider;
import dev.culvert.handlers.spi.EdgeRequest;
import dev.culvert.handlers.spi.EdgeResponse;
import dev.culvert.handlers.spi.HandlerContext;
import dev.culvert.handlers.spi.TestHandlers;
import dev.culvert.http.problem.EdgeException;
import dev.culvert.http.problem.Problem.Cause;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;
import reactor.test.StepVerifier;

class HandlerHostTest {
    private final List<String> events = Collections.synchronizedList(new ArrayList<>());

    /** What one handler of the tests offers, and its name. */
    private record First(String name) {}

    private record Second(String name) {}

    @ParameterizedTest
    @CsvSource({"/a,a", "/a/,a", "/a/x?q=/a/b/,a", "/a/b,ab", "/a/b/c,ab", "/a/bc,a", "/a//b,a",
            "/other/x,a", "/a/only,only", "/a/only?q,only", "/a/only/,a"})
    void theLongestMountAnswers(String target, String name) {
        var host = TestHandlers.host(new Named("a", "/a/ /other/"), new Named("ab", "/a/b/"),
                new Named("only", "/a/only"));

        StepVerifier.create(host.handle(TestHandlers.get(target))).expectNextCount(1).verifyComplete();

        assertThat(events).contains("handle " + name);
    }

    @ParameterizedTest
    @ValueSource(strings = {"/", "/b", "/ab", "/A/"})
    void otherPathsAreNotFound(String target) {
        verifyRefused(target, Cause.NOT_FOUND);
    }

    @Test
    void aPathThatNeedsNormalisingIsRefused() {
        verifyRefused("/a/%2e%2e/b", Cause.BAD_REQUEST);
    }

    @Test
    void aMountHasOneHandler() {
        for (String other : List.of("/x/", "/x", "/y/ /x")) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> TestHandlers.host(new Named("a", "/x/"), new Named("b", other)))
                    .withMessageContaining("handlers a and b both claim the path /x ");
        }
        assertThatIllegalArgumentException().isThrownBy(() -> TestHandlers.host(new Named("a", "x/")))
                .withMessageContaining("mount x/");
    }

    @Test
    void aFieldHasOneHandler() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> TestHandlers.host(new Fielded("a"), new Fielded("b")))
                .withMessageContaining("handlers a and b both answer the GraphQL field Query.who");
    }

    /** Answers one field. */
    private record Fielded(String name) implements EdgeHandlerProvider, EdgeHandler, GraphQlFunction {
        @Override
        public EdgeHandler create(HandlerContext context) {
            return this;
        }

        @Override
        public Mono<EdgeResponse> handle(EdgeRequest request) {
            return TestHandlers.ok();
        }

        @Override
        public String schema() {
            return "extend type Query { who: String }";
        }

        @Override
        public Map<String, GraphQlField> fields() {
            return Map.of("Query.who", call -> Mono.just(name));
        }
    }

    @Test
    void aHandlerThatDoesNotStartStopsTheOthers() {
        var host = TestHandlers.host(new Named("good", "/longer/"), new Named("bad", "/b/"));

        StepVerifier.create(host.start()).verifyErrorMessage("bad");

        assertThat(events).contains("start good", "stop good", "stop bad");
    }

    @Test
    void servicesAreMadeOnceAndTheirOwnersStartFirstAndStopLast() {
        var user = new Named("user", "/u/", Second.class);
        var middle = new Named("middle", null, First.class) {
            @Override
            public Map<Class<?>, Function<HandlerContext, ?>> services() {
                return Map.of(Second.class, context -> new Second(context.service(First.class).name()));
            }
        };
        var base = new Named("base", null) {
            @Override
            public Map<Class<?>, Function<HandlerContext, ?>> services() {
                return Map.of(First.class, context -> {
                    events.add("first made");
                    return new First("f");
                });
            }
        };

        var host = TestHandlers.host(user, middle, base);
        host.start().block();
        host.stop(Duration.ZERO).block();

        assertThat(events).containsExactly("first made", "start base", "start middle", "start user",
                "stop user",
                "stop middle", "stop base");
    }

    @Test
    void handlersThatThrowOrHangInStopDoNotKeepTheOthersFromIt() {
        var throwing = new Named("throwing", "/t/") {
            @Override
            public Mono<Void> stop(Duration grace) {
                throw new IllegalStateException("stop");
            }
        };
        var hanging = new Named("hanging", "/h/") {
            @Override
            public Mono<Void> stop(Duration grace) {
                return Mono.never();
            }
        };
        var offering = new Named("offering", "/o/") {
            @Override
            public Map<Class<?>, Function<HandlerContext, ?>> services() {
                return Map.of(First.class, context -> new First("f"));
            }
        };
        var host = TestHandlers.host(throwing, hanging, offering);

        StepVerifier.withVirtualTime(() -> host.stop(Duration.ofSeconds(1)))
                .expectSubscription()
                .thenAwait(HandlerHost.PATIENCE.plusSeconds(1))
                .verifyError();

        assertThat(events).containsExactly("stop offering");
    }

    @Test
    void servicesThatNeedEachOtherAreAMistake() {
        var ring = new Named("ring", "/r/", First.class) {
            @Override
            public Map<Class<?>, Function<HandlerContext, ?>> services() {
                return Map.of(First.class, context -> new First(context.service(Second.class).name()),
                        Second.class,
                        context -> new Second(context.service(First.class).name()));
            }
        };

        assertThatIllegalArgumentException().isThrownBy(() -> TestHandlers.host(ring))
                .withMessageContaining("need each other");
    }

    @Test
    void eachHandlerHasItsOwnThreads() {
        List<Scheduler> pools = new ArrayList<>();
        class Pooled extends Named {
            Pooled(String name, String mount) {
                super(name, mount);
            }

            @Override
            public EdgeHandler create(HandlerContext context) {
                pools.add(context.service(Scheduler.class));
                return super.create(context);
            }
        }

        TestHandlers.host(new Pooled("a", "/a/"), new Pooled("b", "/b/"));

        assertThat(pools).hasSize(2).doesNotHaveDuplicates();
    }

    @Test
    void whatAServiceAnswersArrivesOnTheAskersThreads() {
        Scheduler threads = Schedulers.newSingle("asker", true);
        Asked service = work -> work.publishOn(Schedulers.parallel());

        String seen = ServiceThreads.around(Asked.class, service, threads)
                .ask(Mono.fromSupplier(() -> Thread.currentThread().getName()))
                .map(name -> name + " " + Thread.currentThread().getName())
                .block();

        assertThat(seen).matches("asker-\\d+ asker-\\d+");
        threads.dispose();
    }

    /** A service that subscribes to what it is given. */
    public interface Asked {
        Mono<String> ask(Mono<String> work);
    }

    private void verifyRefused(String target, Cause cause) {
        StepVerifier.create(TestHandlers.host(new Named("a", "/a/")).handle(TestHandlers.get(target)))
                .verifyErrorSatisfies(error -> assertThat(error).isInstanceOfSatisfying(EdgeException.class,
                        refusal -> assertThat(refusal.problem().cause()).isEqualTo(cause)));
    }

    private class Named implements EdgeHandlerProvider {
        private final String name;
        private final @Nullable String mount;
        private final @Nullable Class<?> needs;

        Named(String name, @Nullable String mount) {
            this(name, mount, null);
        }

        Named(String name, @Nullable String mount, @Nullable Class<?> needs) {
            this.name = name;
            this.mount = mount;
            this.needs = needs;
        }

        @Override
        public String name() {
            return name;
        }

        @Override
        public List<String> mounts() {
            return mount == null ? List.of() : List.of(mount.split(" "));
        }

        @Override
        public EdgeHandler create(HandlerContext context) {
            if (needs != null) {
                assertThat(context.service(needs)).isSameAs(context.service(needs));
            }
            return request -> {
                events.add("handle " + name);
                return TestHandlers.ok();
            };
        }

        @Override
        public Mono<Void> start() {
            return Mono.defer(() -> {
                events.add("start " + name);
                return name.equals("bad") ? Mono.error(new IllegalStateException("bad")) : Mono.empty();
            });
        }

        @Override
        public Mono<Void> stop(Duration grace) {
            return Mono.fromRunnable(() -> events.add("stop " + name));
        }
    }
}
