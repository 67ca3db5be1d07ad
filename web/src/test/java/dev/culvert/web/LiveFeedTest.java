package dev.culvert.web;

import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.handlers.spi.EdgeRequest;
import dev.culvert.handlers.spi.RequestContext;
import gg.jte.Content;
import io.netty.handler.codec.http.DefaultHttpHeaders;
import io.netty.handler.codec.http.HttpMethod;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;
import reactor.test.StepVerifier;
import reactor.test.scheduler.VirtualTimeScheduler;

class LiveFeedTest {
    private final VirtualTimeScheduler time = VirtualTimeScheduler.create();
    private final LiveFeed feed = new LiveFeed(time, Schedulers.immediate());

    private static Supplier<Content> text(String text) {
        return () -> output -> output.writeContent(text);
    }

    private Flux<String> viewer(String known, String... topics) {
        return feed.events(Set.of(topics), known, Mono.just(true))
                .map(bytes -> new String(bytes, StandardCharsets.UTF_8))
                .filter(event -> event.startsWith("event: ") && !event.contains("beat"));
    }

    private void tick() {
        time.advanceTimeBy(LiveFeed.TICK);
    }

    @Test
    void viewersOfOneEventShareItsRendering() {
        var first = StepVerifier.create(viewer(feed.position(), "a")).expectNext("event: a\ndata: 1\n\n");
        var second = StepVerifier.create(viewer(feed.position(), "a")).expectNext("event: a\ndata: 1\n\n");
        var third = StepVerifier.create(viewer(feed.position(), "a", "b"))
                .expectNext("event: a\ndata: 1\n\n");
        var started = new StepVerifier[]{first.thenCancel(), second.thenCancel(), third.thenCancel()};
        for (StepVerifier each : started) {
            each.verifyLater();
        }

        feed.changed("a", text("1"));
        tick();

        for (StepVerifier each : started) {
            each.verify(Duration.ofSeconds(10));
        }
        assertThat(feed.rendered()).isEqualTo(1);
    }

    @Test
    void changesOfATopicAreSentFourTimesASecondAtMost() {
        var seen = new AtomicInteger();
        var last = new AtomicInteger();
        var watching = viewer(feed.position(), "a").subscribe(event -> {
            seen.incrementAndGet();
            last.set(Integer.parseInt(event.replaceAll("\\D", "")));
        });

        for (int i = 1; i <= 100; i++) {
            feed.changed("a", text(Integer.toString(i)));
            time.advanceTimeBy(Duration.ofMillis(10));
        }
        tick();
        watching.dispose();

        assertThat(seen.get()).isBetween(3, 5);
        assertThat(last.get()).isEqualTo(100);
    }

    @Test
    void otherTopicsAreNotSent() {
        StepVerifier verifier = StepVerifier.create(viewer(feed.position(), "a"))
                .expectNext("event: a\ndata: 1\n\n")
                .thenCancel()
                .verifyLater();

        feed.changed("b", text("2"));
        feed.changed("a", text("1"));
        tick();

        verifier.verify(Duration.ofSeconds(10));
        assertThat(feed.rendered()).isEqualTo(1);
    }

    @Test
    void viewerThatComesBackReceivesWhatItMissed() {
        String known = feed.position();
        feed.changed("a", text("1"));
        tick();
        feed.changed("a", text("2"));
        feed.added("log", text("x"));
        feed.added("log", text("y"));
        tick();

        StepVerifier.create(viewer(known, "a", "log"))
                .expectNext("event: log\ndata: x\n\n", "event: log\ndata: y\n\n", "event: a\ndata: 2\n\n")
                .thenCancel()
                .verify(Duration.ofSeconds(10));
    }

    @Test
    void viewerThatWasAwayForTooLongIsToldSo() {
        String known = feed.position();
        for (int i = 0; i <= LiveFeed.MAX_ADDED; i++) {
            feed.added("log", text("x"));
        }
        tick();

        StepVerifier.create(viewer(known, "log"))
                .expectNext("event: missed\ndata: -\n\n")
                .thenCancel()
                .verify(Duration.ofSeconds(10));
    }

    @Test
    void linesOfOneTopicMakeViewersOfOthersMissNothing() {
        String known = feed.position();
        feed.added("log", text("1"));
        feed.changed("a", text("2"));
        for (int i = 0; i <= LiveFeed.MAX_ADDED; i++) {
            feed.added("other", text("x"));
        }
        tick();

        StepVerifier.create(viewer(known, "a", "log"))
                .expectNext("event: log\ndata: 1\n\n", "event: a\ndata: 2\n\n")
                .thenCancel()
                .verify(Duration.ofSeconds(10));
    }

    @Test
    void viewerThatLeavesBeforeItsAnswerBeginsTakesNoPlace() {
        var session = new WebSession(new WebUser(() -> "ada", "read", Mono.just(true)), "csrf",
                Instant.EPOCH);
        var http = new EdgeRequest(HttpMethod.GET, "/live", new DefaultHttpHeaders(), Flux.empty(),
                RequestContext.of("r1", new InetSocketAddress(InetAddress.getLoopbackAddress(), 1)));
        var request = new PageRequest(http, session, Map.of(), FormFields.NONE, FormFields.NONE);
        for (int i = 0; i <= LiveFeed.MAX_OF_SESSION; i++) {
            assertThat(feed.answer(request, Set.of("a"), "", Mono.just(true)).block()).isNotNull();
        }

        assertThat(feed.watched()).isEmpty();
    }

    @Test
    void viewerOfAServerThatWasRestartedIsToldSo() {
        StepVerifier.create(viewer("0123-7", "a"))
                .expectNext("event: missed\ndata: -\n\n")
                .thenCancel()
                .verify(Duration.ofSeconds(10));
    }

    @Test
    void streamEndsWithTheSession() {
        StepVerifier verifier = StepVerifier
                .create(feed.events(Set.of("a"), feed.position(), Mono.just(false))
                        .map(bytes -> new String(bytes, StandardCharsets.UTF_8))
                        .filter(event -> event.startsWith("event")))
                .expectNext("event: ended\ndata: -\n\n")
                .expectComplete()
                .verifyLater();

        time.advanceTimeBy(LiveFeed.BEAT);

        verifier.verify(Duration.ofSeconds(10));
    }

    @Test
    void textsOfSeveralLinesStayOneEvent() {
        StepVerifier verifier = StepVerifier.create(viewer(feed.position(), "a"))
                .expectNext("event: a\ndata: x\ndata: event: b\ndata: y\n\n")
                .thenCancel()
                .verifyLater();

        feed.changed("a", text("x\nevent: b\ry"));
        tick();

        verifier.verify(Duration.ofSeconds(10));
    }

    @Test
    void renderingThatFailsEndsNoStream() {
        StepVerifier verifier = StepVerifier.create(viewer(feed.position(), "a", "b"))
                .expectNext("event: b\ndata: 1\n\n")
                .thenCancel()
                .verifyLater();

        feed.changed("a", () -> {
            throw new IllegalStateException("a fault of the page");
        });
        feed.changed("b", text("1"));
        tick();

        verifier.verify(Duration.ofSeconds(10));
    }
}
