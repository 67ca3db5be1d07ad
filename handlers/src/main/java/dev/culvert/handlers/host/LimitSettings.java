package dev.culvert.handlers.host;

import dev.culvert.config.ConfigException;
import dev.culvert.config.Setting;
import dev.culvert.handlers.spi.HandlerLimits;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The configured limits of one handler.
 *
 * @param maxConcurrent the maximum number of concurrent calls; 0: the handler's own limit
 * @param timeout the limit from a call to the head of its response; null: the handler's own limit, zero:
 *        none
 * @param threads the number of threads for its calls and its blocking work; 0: the handler's own number
 */
public record LimitSettings(
        @Setting(value = "Calls of the handler at the same time; beyond it they are answered 503", byDefault = "0", accepts = "1..100000, or 0: as the handler asks, mostly 64") int maxConcurrent,
        @Setting(value = "Time to the response's head, 504 after it; 0s is without end; left out: as the handler asks, mostly 1m") @Nullable Duration timeout,
        @Setting(value = "Threads of its own, where its calls run and block nobody else", byDefault = "0", accepts = "1..256, or 0: as the handler asks, mostly 8") int threads) {
    /** No limits other than the handler's own. */
    public static final LimitSettings OWN = new LimitSettings(0, null, 0);

    public LimitSettings {
        if (maxConcurrent < 0 || maxConcurrent > 100_000) {
            throw new ConfigException("maxConcurrent",
                    "1..100000; remove the key for what the handler asks");
        }
        if (threads < 0 || threads > 256) {
            throw new ConfigException("threads", "1..256; remove the key for what the handler asks");
        }
    }

    /** The handler's own limits, except where they are configured. */
    public HandlerLimits over(HandlerLimits own) {
        return new HandlerLimits(maxConcurrent == 0 ? own.maxConcurrent() : maxConcurrent,
                timeout == null ? own.timeout() : timeout, threads == 0 ? own.threads() : threads);
    }
}
