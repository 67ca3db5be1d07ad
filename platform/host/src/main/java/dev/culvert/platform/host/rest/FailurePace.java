package dev.culvert.platform.host.rest;

import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.handlers.spi.HandlerException.Reason;
import dev.culvert.http.quota.KeyedPace;
import dev.culvert.http.quota.SourceAddress;
import java.net.InetAddress;
import java.time.Duration;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * Bounds how often an address may guess a secret: ten failures at once, and then one in six seconds. Counted
 * for each object and account, because one provider sends the calls of many accounts, and the wrong secret of
 * one of them must not keep the others out.
 */
final class FailurePace {
    static final int BURST = 10;
    static final Duration INTERVAL = Duration.ofSeconds(6);
    private static final int MAX_KEYS = 10_000;

    private final KeyedPace<String> pace;

    FailurePace() {
        this(System::nanoTime);
    }

    FailurePace(LongSupplier nanoClock) {
        this.pace = new KeyedPace<>(BURST, INTERVAL, MAX_KEYS, nanoClock);
    }

    /**
     * Runs {@code work} unless its address has to wait. Errors: also HandlerException RATE_LIMITED.
     *
     * @param source where the call comes from
     * @param object what the secret is of, spelled in one way only
     */
    <T> Mono<T> paced(@Nullable InetAddress source, String object, Mono<T> work) {
        return Mono.defer(() -> {
            String key = SourceAddress.of(source).site() + " " + object;
            Duration wait = pace.early(key);
            if (wait != null) {
                return Mono.error(HandlerException.of(Reason.RATE_LIMITED,
                        "too many calls from this address had a wrong secret").retryAfter(wait));
            }
            return work.doOnError(HandlerException.class, why -> {
                if (why.reason() == Reason.UNAUTHORIZED || why.reason() == Reason.FORBIDDEN) {
                    pace.take(key);
                }
            });
        });
    }
}
