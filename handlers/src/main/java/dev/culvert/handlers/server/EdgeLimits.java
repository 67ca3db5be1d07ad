package dev.culvert.handlers.server;

import java.time.Duration;

/**
 * Limits of one connection of a listener. Exceeding a limit is answered with the status in brackets.
 *
 * @param headBytes the total size of a request's header fields [431]
 * @param headFields the number of a request's header fields [431]
 * @param uriBytes the size of the request target [414]
 * @param headTimeout the time from the first to the last byte of a head [408]
 * @param bodySilence the time without a byte of an unfinished body [408]
 * @param idleTimeout the time without a request on a persistent connection [closed]
 */
public record EdgeLimits(int headBytes, int headFields, int uriBytes, Duration headTimeout,
        Duration bodySilence,
        Duration idleTimeout) {

    public EdgeLimits {
        if (headBytes < 1 || headFields < 1 || uriBytes < 1) {
            throw new IllegalArgumentException("head limits must be 1 or more, got " + headBytes + " bytes, "
                    + headFields + " fields, " + uriBytes + " bytes of URI");
        }
    }

    /** 64 KiB, 100 fields, 16 KiB; 10 s, 60 s, 60 s: the contract's figures. */
    public static EdgeLimits defaults() {
        return new EdgeLimits(64 << 10, 100, 16 << 10, Duration.ofSeconds(10), Duration.ofSeconds(60),
                Duration.ofSeconds(60));
    }
}
