package dev.culvert.platform.directory.rules;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

class KeptValuesTest {
    private final Deque<Sinks.One<String>> reads = new ArrayDeque<>();
    private final KeptValues<String, String> values = new KeptValues<>(1_000, (key, value) -> value.length(),
            key -> {
                Sinks.One<String> read = Sinks.one();
                reads.add(read);
                return read.asMono();
            });

    @Test
    void concurrentReadsAreOne() {
        List<String> first = told("a");
        List<String> second = told("a");
        reads.remove().tryEmitValue("one");

        assertThat(first).containsExactly("one");
        assertThat(second).containsExactly("one");
        assertThat(told("a")).containsExactly("one");
        assertThat(reads).isEmpty();
    }

    @Test
    void whatIsDroppedWhileItIsReadIsNotKept() {
        List<String> before = told("a");
        values.drop("a");
        List<String> after = told("a");
        reads.remove().tryEmitValue("old");
        assertThat(before).containsExactly("old");
        assertThat(after).isEmpty();
        assertThat(values.present("a")).isNull();

        reads.remove().tryEmitValue("new");
        assertThat(after).containsExactly("new");
        assertThat(values.present("a")).isEqualTo("new");
        values.dropIf("a"::equals);
        assertThat(values.present("a")).isNull();
    }

    @Test
    void aFailureIsNotKept() {
        List<String> failed = new ArrayList<>();
        values.get("a").subscribe(value -> {}, error -> failed.add(error.getMessage()));
        reads.remove().tryEmitError(new IllegalStateException("away"));
        assertThat(failed).containsExactly("away");

        List<String> again = told("a");
        reads.remove().tryEmitValue("there");
        assertThat(again).containsExactly("there");
    }

    @Test
    void theirWeightIsBounded() {
        for (int i = 0; i < 100; i++) {
            List<String> told = told("k" + i);
            reads.remove().tryEmitValue("x".repeat(100));
            assertThat(told).hasSize(1);
        }

        assertThat(values.size()).isBetween(1L, 10L);
        told("large");
        reads.remove().tryEmitValue("x".repeat(1_001));
        assertThat(values.present("large")).isNull();
    }

    private List<String> told(String key) {
        List<String> told = new ArrayList<>();
        Mono<String> value = values.get(key);
        value.subscribe(told::add);
        return told;
    }
}
