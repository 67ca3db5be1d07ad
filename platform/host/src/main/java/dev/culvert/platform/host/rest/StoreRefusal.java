package dev.culvert.platform.host.rest;

import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.handlers.spi.HandlerException.Reason;
import dev.culvert.store.StoreException;
import java.time.Duration;

/** The failures that callers receive when the database refuses or fails a change. */
public final class StoreRefusal {
    private static final Duration RETRY = Duration.ofSeconds(1);

    private static final Duration RETRY_WHEN_FULL = Duration.ofSeconds(30);

    private StoreRefusal() {}

    /** The failure for the caller. Failures of the database itself do not show their message. */
    public static HandlerException told(StoreException failed) {
        return switch (failed) {
            case StoreException.Conflict taken -> HandlerException.of(Reason.CONFLICT, message(taken));
            case StoreException.Full full -> HandlerException.of(Reason.CONFLICT, message(full));
            case StoreException.Absent absent -> HandlerException.of(Reason.NOT_FOUND, message(absent));
            case StoreException.Unfit unfit -> HandlerException.of(Reason.BAD_REQUEST, message(unfit));
            case StoreException.Busy busy ->
                HandlerException.of(Reason.OVERLOADED, message(busy)).retryAfter(RETRY);
            case StoreException.Held held ->
                HandlerException.of(Reason.STORE_UNAVAILABLE, "the database is another process's")
                        .retryAfter(RETRY);
            case StoreException.Away away -> HandlerException
                    .of(Reason.STORE_UNAVAILABLE, "the database can't be reached; nothing was changed")
                    .retryAfter(RETRY);
            case StoreException.Unknown unknown ->
                HandlerException.of(Reason.STORE_UNAVAILABLE, message(unknown));
            case StoreException.Failed broken -> broken.isDiskFull()
                    ? HandlerException.of(Reason.STORE_UNAVAILABLE, "the database has no space left")
                            .retryAfter(RETRY_WHEN_FULL)
                    : HandlerException.of(Reason.STORE_UNAVAILABLE, "the database can't be used")
                            .retryAfter(RETRY);
            default -> HandlerException.of(Reason.STORE_UNAVAILABLE, "the database can't be used");
        };
    }

    private static String message(StoreException failed) {
        return String.valueOf(failed.getMessage());
    }
}
