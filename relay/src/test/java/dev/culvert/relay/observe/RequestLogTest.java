package dev.culvert.relay.observe;

import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.http.problem.Problem.Cause;
import dev.culvert.http.problem.Problem.Hop;
import dev.culvert.relay.observe.RequestFeed.Batch;
import dev.culvert.relay.observe.RequestFeed.Item;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import reactor.core.Disposable;
import reactor.core.publisher.BaseSubscriber;
import reactor.test.scheduler.VirtualTimeScheduler;

class RequestLogTest {
    private static final Instant BEGIN = Instant.parse("2027-01-01T00:00:00Z");

    private final VirtualTimeScheduler time = VirtualTimeScheduler.create();
    private final InstantSource clock = () -> BEGIN.plusMillis(time.now(TimeUnit.MILLISECONDS));
    private final RequestLog log = new RequestLog(clock.withZone(ZoneOffset.UTC), time);

    private void add(FakeRequest request) {
        if (log.keeps(request.problem())) {
            log.add(request);
        }
    }

    private List<String> paths(RequestFilter filter) {
        return log.page(filter, null, RequestLog.MAX_PAGE).items().stream().map(RequestRecord::path).toList();
    }

    @Test
    void requestsAreKeptFromTheFirstLookToFiveMinutesAfterTheLast() {
        add(FakeRequest.ok("/before"));
        add(FakeRequest.problem("acme/prod", "192.0.2.7", "/problem"));
        assertThat(log.isRecording()).isFalse();
        assertThat(paths(RequestFilter.ALL)).containsExactly("/problem", "/before");

        add(FakeRequest.ok("/1"));
        time.advanceTimeBy(Duration.ofMinutes(4));
        RequestPage page = log.page(RequestFilter.ALL, null, 10);
        assertThat(page.allSince()).isEqualTo("2027-01-01T00:00:00Z");
        assertThat(page.items()).extracting(RequestRecord::path).containsExactly("/1", "/problem", "/before");
        time.advanceTimeBy(Duration.ofMinutes(4));
        assertThat(log.isRecording()).isTrue();
        time.advanceTimeBy(Duration.ofMinutes(1));

        assertThat(log.isRecording()).isFalse();
        add(FakeRequest.ok("/after"));
        assertThat(paths(RequestFilter.ALL)).containsExactly("/after", "/1", "/problem", "/before");
        assertThat(log.page(RequestFilter.ALL, null, 10).allSince()).isEqualTo("2027-01-01T00:09:00Z");
    }

    @Test
    void theLastTwoHundredAreKeptBeforeTheFirstLook() {
        for (int i = 0; i < 300; i++) {
            add(FakeRequest.ok("/" + i));
            time.advanceTimeBy(Duration.ofMillis(50));
        }
        assertThat(log.isRecording()).isFalse();

        assertThat(paths(RequestFilter.ALL)).hasSize(200).startsWith("/299", "/298").endsWith("/100");
        assertThat(log.find("id of /100")).isNotNull();
    }

    @Test
    void ofManyAtOnceFiftyASecondAreKept() {
        for (int i = 0; i < 10_000; i++) {
            add(FakeRequest.ok("/" + i));
        }
        time.advanceTimeBy(Duration.ofSeconds(1));
        add(FakeRequest.ok("/later"));

        assertThat(paths(RequestFilter.ALL)).hasSize(51).startsWith("/later", "/49").endsWith("/0");
    }

    @Test
    void theNewestStayWhenNobodyLooksAnyMore() {
        log.page(RequestFilter.ALL, null, 1);
        for (int i = 0; i < 300; i++) {
            add(FakeRequest.ok("/" + i));
        }
        time.advanceTimeBy(RequestLog.KEEP);
        assertThat(log.isRecording()).isFalse();

        assertThat(paths(RequestFilter.ALL)).hasSize(200).startsWith("/299").endsWith("/100");
    }

    @Test
    void pagesFollowOneAnother() {
        log.page(RequestFilter.ALL, null, 1);
        for (int i = 1; i <= 5; i++) {
            add(i == 3 ? FakeRequest.problem("acme/prod", "192.0.2.7", "/3") : FakeRequest.ok("/" + i));
        }

        RequestPage first = log.page(RequestFilter.ALL, null, 2);
        RequestPage second = log.page(RequestFilter.ALL, first.next(), 3);

        assertThat(first.items()).extracting(RequestRecord::path).containsExactly("/5", "/4");
        assertThat(second.items()).extracting(RequestRecord::path).containsExactly("/3", "/2", "/1");
        assertThat(second.next()).isNull();
    }

    @Test
    void theOldestGiveWay() {
        log.page(RequestFilter.ALL, null, 1);
        for (int i = 0; i < RecentRing.MAX_REQUESTS + 10; i++) {
            add(FakeRequest.ok("/" + i));
        }
        assertThat(log.find("id of /9")).isNull();
        assertThat(log.find("id of /10")).isNotNull();
        for (int i = 0; i < RecentRing.MAX_REQUESTS; i++) {
            add(FakeRequest.ok("/" + "x".repeat(2000)));
        }
        assertThat(log.since(-1)).hasSizeBetween(1500, 1800);
    }

    @ParameterizedTest
    @CsvSource({"acme/prod, /a /ab /problem", "acme, /a /ab /problem", "acm, ''", "acme/other, ''"})
    void aRuntimeOrAnAccountIsSelected(String runtime, String expected) {
        fill();

        assertThat(String.join(" ", paths(new RequestFilter(runtime, null, null, null, null, null, false))))
                .isEqualTo(expected);
    }

    private void fill() {
        log.page(RequestFilter.ALL, null, 1);
        add(FakeRequest.problem("acme/prod", "192.0.2.7", "/problem"));
        add(FakeRequest.ok("/ab"));
        add(FakeRequest.ok("/a"));
        add(new FakeRequest("other/one", "192.0.2.7", "/slow/a", 404, null, 2_000_000));
    }

    @Test
    void eachPartOfAFilterSelects() {
        fill();

        assertThat(paths(new RequestFilter(null, "/a", null, null, null, null, false)))
                .containsExactly("/a", "/ab");
        assertThat(paths(new RequestFilter(null, "ow/", null, null, null, null, false)))
                .containsExactly("/slow/a");
        assertThat(paths(new RequestFilter(null, null, 404, null, null, null, false)))
                .containsExactly("/slow/a");
        assertThat(paths(new RequestFilter(null, null, 5, null, null, null, false)))
                .containsExactly("/problem");
        assertThat(paths(new RequestFilter(null, null, null, Cause.NO_TUNNEL, Hop.TUNNEL, null, false)))
                .containsExactly("/problem");
        assertThat(paths(new RequestFilter(null, null, null, null, Hop.ROUTER, null, false))).isEmpty();
        assertThat(paths(new RequestFilter(null, null, null, null, null, Duration.ofSeconds(1), false)))
                .containsExactly("/slow/a");
        assertThat(paths(RequestFilter.problemsOf("acme"))).containsExactly("/problem");
    }

    private record Watching(List<Batch<String>> batches, Disposable subscription) {
        List<String> rendered() {
            return batches.stream().flatMap(batch -> batch.items().stream()).map(Item::rendered).toList();
        }

        long leftOut() {
            return batches.stream().mapToLong(Batch::leftOut).sum();
        }
    }

    private static Watching watch(RequestFeed<String> feed, RequestFilter filter, String after) {
        List<Batch<String>> batches = new ArrayList<>();
        return new Watching(batches,
                feed.watch(filter, after.isEmpty() ? null : after).subscribe(batches::add));
    }

    @Test
    void threeViewersRenderARequestOnceAndEachSeesWhatItSelects() {
        RequestFeed<String> feed = log.feed(RequestRecord::path);
        Watching all = watch(feed, RequestFilter.ALL, "");
        Watching same = watch(feed, RequestFilter.ALL, "");
        Watching some = watch(feed, new RequestFilter(null, "/2", null, null, null, null, false), "");
        for (int i = 0; i < 10; i++) {
            add(FakeRequest.ok("/" + i));
        }
        assertThat(all.batches).isEmpty();
        time.advanceTimeBy(RequestFeed.PERIOD);

        assertThat(all.batches).hasSize(1);
        assertThat(all.rendered()).hasSize(10).startsWith("/0", "/1").isEqualTo(same.rendered());
        assertThat(some.rendered()).containsExactly("/2");
        assertThat(feed.rendered()).isEqualTo(10);
        time.advanceTimeBy(Duration.ofMinutes(10));
        assertThat(log.isRecording()).isTrue();

        all.subscription.dispose();
        same.subscription.dispose();
        some.subscription.dispose();
        time.advanceTimeBy(RequestLog.KEEP.multipliedBy(2));
        assertThat(feed.viewers()).isZero();
        assertThat(log.isRecording()).isFalse();
    }

    @Test
    void aViewerIsSentTwoHundredASecondAndTheNumberOfTheRest() {
        RequestFeed<String> feed = log.feed(RequestRecord::path);
        Watching viewer = watch(feed, RequestFilter.ALL, "");
        for (int i = 0; i < 1000; i++) {
            add(FakeRequest.ok("/" + i));
        }
        time.advanceTimeBy(Duration.ofSeconds(1));

        assertThat(viewer.rendered()).hasSize(RequestFeed.MAX_BATCH).endsWith("/999");
        assertThat(viewer.leftOut()).isEqualTo(1000 - RequestFeed.MAX_BATCH);
        assertThat(feed.rendered()).isEqualTo(RequestFeed.MAX_BATCH);
        for (int i = 0; i < RecentRing.MAX_REQUESTS * 2; i++) {
            add(FakeRequest.ok("/" + i));
        }
        time.advanceTimeBy(RequestFeed.PERIOD);
        assertThat(viewer.leftOut())
                .isEqualTo(1000 + RecentRing.MAX_REQUESTS * 2L - 2 * RequestFeed.MAX_BATCH);
    }

    @Test
    void aViewerThatDoesNotReadContinuesWhereItWas() {
        RequestFeed<String> feed = log.feed(RequestRecord::path);
        List<Batch<String>> batches = new ArrayList<>();
        var slow = new BaseSubscriber<Batch<String>>() {
            @Override
            protected void hookOnSubscribe(org.reactivestreams.Subscription subscription) {
                // requests nothing yet
            }

            @Override
            protected void hookOnNext(Batch<String> batch) {
                batches.add(batch);
            }
        };
        feed.watch(RequestFilter.ALL, null).subscribe(slow);
        add(FakeRequest.ok("/1"));
        time.advanceTimeBy(Duration.ofSeconds(1));
        assertThat(batches).isEmpty();

        add(FakeRequest.ok("/2"));
        slow.request(1);
        time.advanceTimeBy(Duration.ofSeconds(1));

        assertThat(batches).hasSize(1);
        assertThat(batches.getFirst().items()).extracting(Item::rendered).containsExactly("/1", "/2");
        assertThat(batches.getFirst().leftOut()).isZero();
    }

    @Test
    void aViewerThatReturnsIsSentWhatItMissed() {
        RequestFeed<String> feed = log.feed(RequestRecord::path);
        Watching first = watch(feed, RequestFilter.ALL, "");
        add(FakeRequest.ok("/1"));
        time.advanceTimeBy(RequestFeed.PERIOD);
        String seen = first.batches.getFirst().items().getLast().id();
        first.subscription.dispose();
        add(FakeRequest.ok("/2"));

        Watching again = watch(feed, RequestFilter.ALL, seen);
        Watching stranger = watch(feed, RequestFilter.ALL, "zzzzzzzzzzzzzz\u0001");
        Watching ancient = watch(feed, RequestFilter.ALL, "1");
        add(FakeRequest.ok("/3"));
        time.advanceTimeBy(RequestFeed.PERIOD);

        assertThat(again.rendered()).containsExactly("/2", "/3");
        assertThat(stranger.rendered()).containsExactly("/3");
        assertThat(ancient.rendered()).containsExactly("/1", "/2", "/3");
        assertThat(ancient.leftOut() + again.leftOut()).isZero();
    }

    @Test
    void oneViewerTooManyIsRefusedAndTheEndEndsAll() {
        RequestFeed<String> feed = log.feed(RequestRecord::path);
        List<Integer> ended = new ArrayList<>();
        for (int i = 0; i < RequestFeed.MAX_VIEWERS; i++) {
            int viewer = i;
            feed.watch(RequestFilter.ALL, null).doOnComplete(() -> ended.add(viewer)).subscribe();
        }
        List<Throwable> refused = new ArrayList<>();
        assertThat(feed.isFull()).isTrue();
        feed.watch(RequestFilter.ALL, null).subscribe(any -> {}, refused::add);

        log.end();

        assertThat(refused).hasSize(1);
        assertThat(ended).hasSize(RequestFeed.MAX_VIEWERS);
        assertThat(feed.viewers()).isZero();
    }
}
