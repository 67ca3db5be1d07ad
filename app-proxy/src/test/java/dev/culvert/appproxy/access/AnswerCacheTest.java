package dev.culvert.appproxy.access;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.culvert.handlers.spi.HandlerException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

class AnswerCacheTest {
    private final AtomicLong now = new AtomicLong();
    private final AtomicInteger asked = new AtomicInteger();
    /** Answers "no" hold 5 s, others 60 s. */
    private final AnswerCache<String, String> cache = new AnswerCache<>(10,
            answer -> Duration.ofSeconds(answer.equals("no") ? 5 : 60), now::get);

    @Test
    void anAnswerHoldsForItsTimeAndNoLonger() {
        assertThat(get("k", answering("a"))).isEqualTo("a");
        pass(44);
        assertThat(get("k", answering("b"))).isEqualTo("a");
        assertThat(asked).hasValue(1);

        pass(17);

        assertThat(get("k", answering("c"))).isEqualTo("c");
        assertThat(asked).hasValue(2);
    }

    @Test
    void aRefusalHoldsShorter() {
        get("k", answering("no"));
        pass(3);
        assertThat(get("k", answering("yes"))).isEqualTo("no");

        pass(3);

        assertThat(get("k", answering("yes"))).isEqualTo("yes");
    }

    @Test
    void oneQuestionServesAllWhoAskAtTheSameTime() {
        Sinks.One<String> answer = Sinks.one();
        List<String> got = new ArrayList<>();
        Mono<String> ask = Mono.defer(() -> {
            asked.incrementAndGet();
            return answer.asMono();
        });
        for (int i = 0; i < 100; i++) {
            cache.get("k", ask).subscribe(got::add);
        }
        Disposable left = cache.get("k", ask).subscribe();
        left.dispose();

        answer.tryEmitValue("a");

        assertThat(asked).hasValue(1);
        assertThat(got).hasSize(100).containsOnly("a");
    }

    @Test
    void isAskedAheadInTheLastQuarterOfItsTime() {
        get("k", answering("a"));
        pass(46);

        assertThat(get("k", answering("b"))).isEqualTo("a");

        assertThat(get("k", answering("c"))).isEqualTo("b");
        assertThat(asked).hasValue(2);
        pass(40);
        assertThat(get("k", answering("d"))).isEqualTo("b");
    }

    @Test
    void aRefreshThatFailsLeavesTheAnswerItsTimeAndIsNotTriedForASecond() {
        get("k", answering("a"));
        pass(50);
        assertThat(get("k", failing())).isEqualTo("a");
        assertThat(get("k", failing())).isEqualTo("a");
        assertThat(asked).hasValue(2);
        pass(2);
        assertThat(get("k", failing())).isEqualTo("a");
        assertThat(asked).hasValue(3);

        pass(9);

        assertThatThrownBy(() -> get("k", failing())).isInstanceOf(ControlPlaneAway.class);
        assertThat(get("k", answering("back"))).isEqualTo("back");
    }

    @Test
    void aFailureIsNotRemembered() {
        assertThatThrownBy(() -> get("k", failing())).isInstanceOf(ControlPlaneAway.class);

        assertThat(get("k", answering("a"))).isEqualTo("a");
    }

    @Test
    void forgetsWhatIsKnownAndWhatIsUnderWay() {
        get("known", answering("a"));
        Sinks.One<String> slow = Sinks.one();
        cache.get("k", slow.asMono()).subscribe();

        cache.forget();
        slow.tryEmitValue("old");

        assertThat(get("k", answering("new"))).isEqualTo("new");
        assertThat(get("known", answering("b"))).isEqualTo("b");
    }

    @Test
    void keepsNoMoreAnswersThanItMay() {
        for (int i = 0; i < 1_000; i++) {
            get("k" + i, answering("a"));
        }

        assertThat(cache.size()).isLessThanOrEqualTo(10);
    }

    @Test
    void asksNoMoreThanAThousandThingsAtATime() {
        for (int i = 0; i < AnswerCache.MAX_FLIGHTS; i++) {
            cache.get("k" + i, Mono.never()).subscribe();
        }

        assertThatThrownBy(() -> get("one more", answering("a"))).isInstanceOf(HandlerException.class);
        cache.get("k7", Mono.never()).subscribe();
    }

    private void pass(int seconds) {
        now.addAndGet(Duration.ofSeconds(seconds).toNanos());
    }

    private Mono<String> answering(String answer) {
        return Mono.fromSupplier(() -> {
            asked.incrementAndGet();
            return answer;
        });
    }

    private Mono<String> failing() {
        return Mono.defer(() -> {
            asked.incrementAndGet();
            return Mono.error(new ControlPlaneAway("the connection was refused"));
        });
    }

    private String get(String key, Mono<String> ask) {
        return Objects.requireNonNull(cache.get(key, ask).block(Duration.ofSeconds(10)));
    }
}
