package dev.culvert.web;

import dev.culvert.handlers.spi.EdgeResponse;
import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.handlers.spi.HandlerException.Reason;
import gg.jte.Content;
import gg.jte.output.StringOutput;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http.DefaultHttpHeaders;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpResponseStatus;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.core.scheduler.Scheduler;

/**
 * Sends changes to the pages of all viewers, as server-sent events. A topic is what one element of a page
 * shows, as {@code runtime:acme/prod}; a viewer names the topics of its page.
 *
 * <p>Changes of a topic are sent at most four times a second, the last one always. Each change is rendered
 * once, whatever the number of viewers. The last {@link #MAX_ENTRIES} changes are kept, so a viewer that
 * reads slowly or connects again receives what it missed; when that is no longer known it receives {@code
 * missed}, and its page is loaded again. Thread-safe; publishing does not block.
 */
public final class LiveFeed implements AutoCloseable {
    /** The shortest time between two changes of one topic. */
    static final Duration TICK = Duration.ofMillis(250);
    /** The time between two signs of life, by which a page notices that the server is gone. */
    static final Duration BEAT = Duration.ofSeconds(5);
    /** More than the runtimes of a server: an entry is small until somebody sees it. */
    static final int MAX_ENTRIES = 16_384;
    /** The number of entries of one topic that replace none, as lines of a log. */
    static final int MAX_ADDED = 1024;
    static final int MAX_VIEWERS = 128;
    static final int MAX_OF_SESSION = 16;
    static final int MAX_TOPICS = 512;

    private static final byte[] BEATS = lines("beat", "-");
    private static final byte[] ENDED = lines("ended", "-");
    private static final Logger log = LoggerFactory.getLogger(LiveFeed.class);

    private final String epoch = Long.toHexString(UUID.randomUUID().getMostSignificantBits());
    private final Scheduler timer;
    private final Scheduler rendering;
    /** Entries by number. Guarded by this. */
    private final TreeMap<Long, FeedEntry> entries = new TreeMap<>();
    /** The last entry of each topic that shows a state. Guarded by this. */
    private final Map<String, FeedEntry> states = new HashMap<>();
    /** Changes of states since the last tick. Guarded by this. */
    private final Map<String, Supplier<byte[]>> pending = new LinkedHashMap<>();
    /** The topics whose entries replace none. Publishers have a fixed number of them. Guarded by this. */
    private final Map<String, Lines> added = new HashMap<>();
    private final Map<Object, Set<String>> watched = new ConcurrentHashMap<>();
    /** The number of viewers of each session. Guarded by this. */
    private final Map<WebSession, Integer> bySession = new HashMap<>();
    private final LongAdder rendered = new LongAdder();
    private final Sinks.Many<Long> news = Sinks.many().multicast().directBestEffort();
    private final Sinks.Empty<Void> over = Sinks.empty();
    private long last;
    /** The number of the newest state that is no longer known. Guarded by this. */
    private long forgotten;
    private @Nullable Disposable flush;

    /** The entries of a topic that replace none. */
    private static final class Lines {
        final ArrayDeque<Long> numbers = new ArrayDeque<>();
        /** The number of the newest one that is no longer known. */
        long forgotten;
    }

    /**
     * Makes a feed without viewers.
     *
     * @param timer counts the time between changes
     * @param rendering where changes are rendered and sent, which may take long: no event loop
     */
    public LiveFeed(Scheduler timer, Scheduler rendering) {
        this.timer = timer;
        this.rendering = rendering;
    }

    /**
     * Publishes that a topic shows something else. {@code now} renders its state when it is sent, which may
     * be later: of several changes only the last one is sent.
     */
    public void changed(String topic, Supplier<Content> now) {
        synchronized (this) {
            pending.put(topic, () -> event(topic, now));
            schedule();
        }
    }

    /**
     * Publishes something that was added to a topic, as a line of a log. It replaces nothing. The last {@link
     * #MAX_ADDED} of a topic are kept, so a topic with many lines does no harm to others.
     */
    public void added(String topic, Supplier<Content> line) {
        synchronized (this) {
            Lines lines = added.computeIfAbsent(topic, any -> new Lines());
            lines.numbers.add(store(topic, () -> event(topic, line)).number);
            if (lines.numbers.size() > MAX_ADDED) {
                lines.forgotten = lines.numbers.remove();
                entries.remove(lines.forgotten);
            }
            schedule();
        }
    }

    /** The number of the last change. A page that is rendered now shows all changes up to it. */
    public synchronized String position() {
        return epoch + "-" + last;
    }

    /** Whether anybody sees a topic. */
    public boolean isWatched(String topic) {
        return watched.values().stream().anyMatch(topics -> topics.contains(topic));
    }

    /** The topics that somebody sees. */
    public Collection<String> watched() {
        return watched.values().stream().flatMap(Set::stream).distinct().toList();
    }

    /** The event that ends live updates: the session is over. */
    static byte[] ended() {
        return ENDED.clone();
    }

    /** The number of renderings, for tests. */
    long rendered() {
        return rendered.sum();
    }

    /** A rendering that fails is left out, so that one fault ends no stream. */
    private byte[] event(String topic, Supplier<Content> now) {
        try {
            return event(topic, now.get());
        } catch (RuntimeException e) {
            log.atError().setCause(e).addKeyValue("topic", topic).log("live update can't be rendered");
            return new byte[0];
        }
    }

    private byte[] event(String topic, Content content) {
        rendered.increment();
        var text = new StringOutput();
        content.writeTo(text);
        return lines(topic, text.toString());
    }

    private static byte[] lines(String topic, String text) {
        var event = new StringBuilder("event: ").append(topic).append('\n');
        text.lines().forEach(line -> event.append("data: ").append(line).append('\n'));
        return event.append('\n').toString().getBytes(StandardCharsets.UTF_8);
    }

    /** Guarded by this. */
    private void schedule() {
        if (flush == null) {
            flush = timer.schedule(this::flush, TICK.toMillis(), TimeUnit.MILLISECONDS);
        }
    }

    private void flush() {
        long now;
        synchronized (this) {
            flush = null;
            pending.forEach((topic, rendering) -> {
                FeedEntry before = states.remove(topic);
                if (before != null) {
                    entries.remove(before.number);
                }
                states.put(topic, store(topic, rendering));
            });
            pending.clear();
            now = last;
        }
        news.emitNext(now, (signal, result) -> result == Sinks.EmitResult.FAIL_NON_SERIALIZED);
    }

    /** Guarded by this. */
    private FeedEntry store(String topic, Supplier<byte[]> rendering) {
        FeedEntry entry = new FeedEntry(++last, topic, rendering);
        entries.put(entry.number, entry);
        if (entries.size() > MAX_ENTRIES) {
            forgetOldest();
        }
        return entry;
    }

    /** Guarded by this. */
    private void forgetOldest() {
        FeedEntry oldest = entries.pollFirstEntry().getValue();
        Lines lines = added.get(oldest.topic);
        if (lines == null) {
            forgotten = oldest.number;
            states.remove(oldest.topic, oldest);
        } else {
            lines.forgotten = lines.numbers.remove();
        }
    }

    /** Whether a viewer of some topics can't learn what it missed since a number. Guarded by this. */
    private boolean hasForgotten(Set<String> topics, long since) {
        return since < forgotten || added.entrySet()
                .stream()
                .anyMatch(lines -> since < lines.getValue().forgotten && topics.contains(lines.getKey()));
    }

    /**
     * The events of some topics until the session ends.
     *
     * @param request the viewer's
     * @param topics what its page shows
     * @param shown the {@link #position} that the page shows; the field {@code Last-Event-ID} wins
     * @param goesOn whether the session goes on, asked at each sign of life
     */
    public Mono<PageAnswer> answer(PageRequest request, Set<String> topics, String shown,
            Mono<Boolean> goesOn) {
        return Mono.fromSupplier(() -> {
            String known = request.http().headers().get("last-event-id", shown);
            requirePlace(request.session(), topics);
            // The place is taken when the body is sent: a caller that leaves before takes none.
            Flux<ByteBuf> body = Flux
                    .using(() -> enter(request.session(), topics),
                            viewer -> events(topics, known, goesOn),
                            viewer -> leave(request.session(), viewer))
                    .map(Unpooled::wrappedBuffer);
            HttpHeaders headers = new DefaultHttpHeaders().set(HttpHeaderNames.CONTENT_TYPE,
                    "text/event-stream");
            return new PageAnswer.Raw(EdgeResponse.Http.streaming(HttpResponseStatus.OK, headers, body));
        });
    }

    private synchronized void requirePlace(WebSession session, Set<String> topics) {
        if (topics.size() > MAX_TOPICS) {
            throw HandlerException.of(Reason.BAD_REQUEST, "a page has at most " + MAX_TOPICS + " topics");
        }
        if (bySession.getOrDefault(session, 0) >= MAX_OF_SESSION || watched.size() >= MAX_VIEWERS) {
            throw HandlerException.of(Reason.OVERLOADED, "too many pages are open");
        }
    }

    private synchronized Object enter(WebSession session, Set<String> topics) {
        requirePlace(session, topics);
        Object viewer = new Object();
        bySession.merge(session, 1, Integer::sum);
        watched.put(viewer, topics);
        return viewer;
    }

    private synchronized void leave(WebSession session, Object viewer) {
        if (watched.remove(viewer) != null) {
            bySession.computeIfPresent(session, (any, own) -> own == 1 ? null : own - 1);
        }
    }

    Flux<byte[]> events(Set<String> topics, String known, Mono<Boolean> goesOn) {
        return Flux.defer(() -> {
            Reader reader = new Reader(topics, known);
            Flux<byte[]> changes = Flux.merge(Flux.just(0L), news.asFlux())
                    .onBackpressureLatest()
                    .publishOn(rendering, 1)
                    .concatMapIterable(any -> reader.next(), 1);
            Flux<byte[]> beats = Flux.interval(BEAT, timer)
                    .onBackpressureDrop()
                    // An error says nothing about the session: the next sign of life asks again.
                    .concatMap(any -> goesOn.onErrorReturn(true), 1)
                    .map(on -> on ? BEATS : ENDED);
            return Flux.merge(changes, beats)
                    .takeUntil(bytes -> Arrays.equals(bytes, ENDED))
                    .takeUntilOther(over.asMono());
        });
    }

    /** Reads what one viewer has not seen. Called by one thread at a time. */
    private final class Reader {
        private final Set<String> topics;
        private long read;
        private boolean missed;
        private boolean first = true;

        Reader(Set<String> topics, String known) {
            this.topics = topics;
            this.read = number(known);
            this.missed = read < 0;
        }

        /** The number of a position; -1 for one of another process, or none at all. */
        private long number(String position) {
            try {
                return position.startsWith(epoch + "-")
                        ? Long.parseUnsignedLong(position.substring(epoch.length() + 1))
                        : -1;
            } catch (NumberFormatException e) {
                return -1;
            }
        }

        List<byte[]> next() {
            List<FeedEntry> unread = new ArrayList<>();
            long to;
            synchronized (LiveFeed.this) {
                missed |= hasForgotten(topics, read);
                to = last;
                if (!missed) {
                    entries.tailMap(read, false)
                            .values()
                            .stream()
                            .filter(entry -> topics.contains(entry.topic))
                            .forEach(unread::add);
                }
            }
            List<byte[]> bytes = new ArrayList<>();
            if (missed) {
                bytes.add(lines("missed", "-"));
            }
            unread.forEach(entry -> bytes.add(entry.bytes()));
            if (!bytes.isEmpty() || first) {
                // Without data it is no event: the browser only keeps the position.
                bytes.add(("id: " + epoch + "-" + to + "\n\n").getBytes(StandardCharsets.US_ASCII));
            }
            missed = false;
            first = false;
            read = to;
            return bytes;
        }
    }

    /** Ends all streams. */
    @Override
    public void close() {
        over.tryEmitEmpty();
    }
}
