package dev.culvert.appproxy.commits.git;

import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.handlers.spi.HandlerException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

class KeyedSerializerTest {
    private final KeyedSerializer serializer = new KeyedSerializer(2);
    private final List<String> done = new ArrayList<>();

    @Test
    void workOfOneKeyRunsOneAfterTheOther() {
        Sinks.Empty<String> first = Sinks.empty();
        serializer.run("a", first.asMono()).subscribe();
        serializer.run("a", work("second")).subscribe();
        serializer.run("b", work("other")).subscribe();
        assertThat(done).containsExactly("other");

        first.tryEmitEmpty();

        assertThat(done).containsExactly("other", "second");
        assertThat(serializer.busy()).isZero();
    }

    @Test
    void whatWaitsIsBounded() {
        Sinks.Empty<String> first = Sinks.empty();
        List<Throwable> refused = new ArrayList<>();
        serializer.run("a", first.asMono()).subscribe();
        for (int i = 0; i < 3; i++) {
            serializer.run("a", work("w" + i)).subscribe(result -> {}, refused::add);
        }

        assertThat(refused).singleElement()
                .isInstanceOfSatisfying(HandlerException.class,
                        error -> assertThat(error.reason()).isEqualTo(HandlerException.Reason.OVERLOADED));
        first.tryEmitEmpty();
        assertThat(done).containsExactly("w0", "w1");
    }

    @Test
    void whoLeavesWhileWaitingNeverRuns() {
        Sinks.Empty<String> first = Sinks.empty();
        serializer.run("a", first.asMono()).subscribe();
        Disposable waiting = serializer.run("a", work("gone")).subscribe();
        waiting.dispose();

        first.tryEmitEmpty();

        assertThat(done).isEmpty();
        assertThat(serializer.busy()).isZero();
    }

    @Test
    void whoLeavesWhileRunningDoesNotLetTheNextIn() {
        Sinks.Empty<String> first = Sinks.empty();
        Disposable running = serializer.run("a", first.asMono()).subscribe();
        serializer.run("a", work("second")).subscribe();
        running.dispose();
        assertThat(done).isEmpty();

        first.tryEmitEmpty();

        assertThat(done).containsExactly("second");
    }

    @Test
    void workThatFailsLetsTheNextIn() {
        Sinks.Empty<String> first = Sinks.empty();
        List<Throwable> failed = new ArrayList<>();
        serializer.run("a", first.asMono()).subscribe(result -> {}, failed::add);
        serializer.run("a", work("second")).subscribe();

        first.tryEmitError(new IllegalStateException("broken"));

        assertThat(done).containsExactly("second");
        assertThat(failed).hasSize(1);
    }

    private Mono<String> work(String name) {
        return Mono.fromSupplier(() -> {
            done.add(name);
            return name;
        });
    }
}
