package dev.culvert.relay.upstream;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.Expiry;
import com.github.benmanes.caffeine.cache.Ticker;
import io.netty.channel.EventLoop;
import io.netty.handler.codec.dns.DnsRecord;
import io.netty.resolver.dns.DnsCache;
import io.netty.resolver.dns.DnsCacheEntry;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Caches DNS answers for their TTL, shared by all event loops. Bounded, because callers choose event sources
 * and so names. Names that do not exist are cached briefly, so that callers cannot make the router query DNS
 * for each request.
 */
public final class NameCache implements DnsCache {
    /** The maximum TTL. A moved service must be found soon, and cluster DNS answers from memory. */
    static final Duration LONGEST = Duration.ofSeconds(10);
    /** The TTL of names that do not exist. A new service must be found soon, too. */
    static final Duration ABSENT = Duration.ofSeconds(3);
    public static final int MAX_NAMES = 4096;

    private final Cache<String, Answer> answers;

    /** @param entries one entry with a cause, or any number of entries with addresses */
    private record Answer(List<Entry> entries, long nanos) {}

    private record Entry(@Nullable InetAddress address, @Nullable Throwable cause) implements DnsCacheEntry {}

    public NameCache(Ticker ticker) {
        answers = Caffeine.newBuilder()
                .maximumSize(MAX_NAMES)
                .executor(Runnable::run)
                .ticker(ticker)
                .expireAfter(new AsLongAsSaid())
                .build();
    }

    /** The number of cached names. */
    long size() {
        answers.cleanUp();
        return answers.estimatedSize();
    }

    @Override
    public @Nullable List<? extends DnsCacheEntry> get(String name, DnsRecord[] additionals) {
        Answer known = additionals.length == 0 ? answers.getIfPresent(key(name)) : null;
        return known == null ? null : known.entries;
    }

    @Override
    public DnsCacheEntry cache(String name, DnsRecord[] additionals, InetAddress address, long ttlSeconds,
            EventLoop loop) {
        Entry entry = new Entry(address, null);
        long nanos = Math.min(Duration.ofSeconds(Math.max(0, ttlSeconds)).toNanos(), LONGEST.toNanos());
        if (additionals.length == 0 && nanos > 0) {
            answers.asMap().merge(key(name), new Answer(List.of(entry), nanos), NameCache::both);
        }
        return entry;
    }

    /** A failure replaces what is cached, but not one that says more. */
    private static Answer saying(Answer known, Answer failure) {
        Throwable before = known.entries.getFirst().cause;
        Throwable after = failure.entries.getFirst().cause;
        boolean less = before != null && before.getCause() != null && after != null
                && after.getCause() == null;
        return less ? known : failure;
    }

    /** Merges entries: the addresses of a name arrive one by one. An address replaces a cached failure. */
    private static Answer both(Answer known, Answer more) {
        if (known.entries.getFirst().cause != null) {
            return more;
        }
        if (known.entries.contains(more.entries.getFirst())) {
            return new Answer(known.entries, Math.min(known.nanos, more.nanos));
        }
        List<Entry> all = new ArrayList<>(known.entries);
        all.addAll(more.entries);
        return new Answer(List.copyOf(all), Math.min(known.nanos, more.nanos));
    }

    @Override
    public DnsCacheEntry cache(String name, DnsRecord[] additionals, Throwable cause, EventLoop loop) {
        Entry entry = new Entry(null, cause);
        if (additionals.length == 0 && cause instanceof UnknownHostException) {
            answers.asMap()
                    .merge(key(name), new Answer(List.of(entry), ABSENT.toNanos()), NameCache::saying);
        }
        return entry;
    }

    @Override
    public void clear() {
        answers.invalidateAll();
    }

    @Override
    public boolean clear(String name) {
        return answers.asMap().remove(key(name)) != null;
    }

    private static String key(String name) {
        String lower = name.toLowerCase(Locale.ROOT);
        return lower.endsWith(".") ? lower : lower + ".";
    }

    /** Counts the TTL from the arrival of a name's first address. Later addresses do not extend it. */
    private static final class AsLongAsSaid implements Expiry<String, Answer> {
        @Override
        public long expireAfterCreate(String name, Answer answer, long now) {
            return answer.nanos;
        }

        @Override
        public long expireAfterUpdate(String name, Answer answer, long now, long left) {
            boolean absent = answer.entries.getFirst().cause != null;
            return absent ? answer.nanos : Math.min(answer.nanos, left > 0 ? left : answer.nanos);
        }

        @Override
        public long expireAfterRead(String name, Answer answer, long now, long left) {
            return left;
        }
    }
}
