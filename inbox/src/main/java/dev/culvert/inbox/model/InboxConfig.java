package dev.culvert.inbox.model;

import dev.culvert.config.ByteSize;
import dev.culvert.config.ConfigException;
import dev.culvert.config.Setting;
import java.time.Duration;

/**
 * The limits of the inbox, and the time for which it keeps ended webhooks. A full inbox refuses webhooks; it
 * never drops one.
 *
 * @param maxRuntimeBytes the maximum bytes of one runtime's pending webhooks, and of its dead ones; the
 *     oldest dead ones are deleted to make room
 * @param maxSourceBytes the maximum bytes of one event source, so that no source takes the whole share of its
 *     runtime
 * @param maxSources the maximum number of event sources of one runtime with pending webhooks
 * @param memory the maximum bytes of webhooks that are being received, a quarter of them for one runtime
 * @param perAddress the maximum number of webhooks a second from one address
 * @param answerWithin the time that a caller waits for its event source's response
 * @param attemptTimeout the maximum time of an attempt until its response begins
 * @param maxAttempts the maximum number of concurrent attempts
 * @param keepDead the time for which dead webhooks are kept
 * @param keepDelivered the time for which delivered webhooks are kept
 * @param keepDeliveredBytes the maximum bytes of delivered webhooks' content
 */
public record InboxConfig(
        @Setting(value = "Pending webhooks of one runtime; above, its webhooks are refused with 503, and none is dropped. Of its dead ones as many bytes are kept, the newest", byDefault = "1GiB", accepts = "1MiB or more") ByteSize maxRuntimeBytes,
        @Setting(value = "Pending webhooks of one event source, and its dead ones, so that none takes the whole share of its runtime", byDefault = "256MiB", accepts = "1MiB or more") ByteSize maxSourceBytes,
        @Setting(value = "Event sources of one runtime with pending webhooks", byDefault = "1000", accepts = "1..100000") int maxSources,
        @Setting(value = "Memory for webhooks that are being taken in, a quarter of it for one runtime; above, further ones are refused with 503", byDefault = "32MiB", accepts = "1MiB or more") ByteSize memory,
        @Setting(value = "Webhooks a second from one address (IPv6: one /64), as a short burst twice as many; above: 429", byDefault = "2000", accepts = "1..1000000") int perAddress,
        @Setting(value = "How long a caller waits for its event source's answer before it gets 202; most providers give up after 10 s", byDefault = "8s", accepts = "0s..60s") Duration answerWithin,
        @Setting(value = "How long an attempt may take until its answer begins; a repeated one a second longer for each 256 KiB of its body", byDefault = "15s", accepts = "1s..10m") Duration attemptTimeout,
        @Setting(value = "Attempts under way at once; of one runtime a quarter of them", byDefault = "256", accepts = "4..10000") int maxAttempts,
        @Setting(value = "How long webhooks that could not be delivered are kept for a replay", byDefault = "30d", accepts = "1h..365d") Duration keepDead,
        @Setting(value = "How long delivered webhooks are remembered, to know a duplicate and for a replay", byDefault = "24h", accepts = "1m..30d") Duration keepDelivered,
        @Setting(value = "What the content of delivered webhooks may take up; the oldest goes first, and can't be replayed any more", byDefault = "256MiB") ByteSize keepDeliveredBytes) {
    private static final long MIN = 1 << 20;

    public InboxConfig {
        atLeast("maxRuntimeBytes", maxRuntimeBytes);
        atLeast("maxSourceBytes", maxSourceBytes);
        atLeast("memory", memory);
        require("maxSources", maxSources >= 1 && maxSources <= 100_000, "1..100000");
        require("perAddress", perAddress >= 1 && perAddress <= 1_000_000, "1..1000000");
        require("answerWithin", within(answerWithin, Duration.ZERO, Duration.ofSeconds(60)), "0s..60s");
        require("attemptTimeout", within(attemptTimeout, Duration.ofSeconds(1), Duration.ofMinutes(10)),
                "1s..10m");
        require("maxAttempts", maxAttempts >= 4 && maxAttempts <= 10_000, "4..10000");
        require("keepDead", within(keepDead, Duration.ofHours(1), Duration.ofDays(365)), "1h..365d");
        require("keepDelivered", within(keepDelivered, Duration.ofMinutes(1), Duration.ofDays(30)),
                "1m..30d");
    }

    /** Returns the configuration in effect if nothing is configured. */
    public static InboxConfig defaults() {
        return new InboxConfig(ByteSize.parse("1GiB"), ByteSize.parse("256MiB"), 1000,
                ByteSize.parse("32MiB"), 2000,
                Duration.ofSeconds(8), Duration.ofSeconds(15), 256, Duration.ofDays(30), Duration.ofHours(24),
                ByteSize.parse("256MiB"));
    }

    private static void atLeast(String key, ByteSize size) {
        require(key, size.bytes() >= MIN, "1MiB or more");
    }

    private static boolean within(Duration value, Duration least, Duration most) {
        return value.compareTo(least) >= 0 && value.compareTo(most) <= 0;
    }

    private static void require(String key, boolean met, String expected) {
        if (!met) {
            throw new ConfigException(key, expected);
        }
    }
}
