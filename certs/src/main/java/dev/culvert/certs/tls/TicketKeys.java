package dev.culvert.certs.tls;

import io.netty.handler.ssl.OpenSslSessionContext;
import io.netty.handler.ssl.OpenSslSessionTicketKey;
import io.netty.handler.ssl.SslContext;
import java.security.SecureRandom;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Deque;

/**
 * The keys that seal the TLS session tickets of one listener: random, in memory only, replaced every 4 hours. Tickets of
 * the two keys before still resume a session, so one serves for 8 to 12 hours; after a restart none does. All contexts
 * of a listener share them, so that tickets outlive a new certificate. Java's engine, where BoringSSL is not, keeps
 * keys of its own, in the same way. Used by one thread at a time.
 */
final class TicketKeys {
    static final Duration LIFE = Duration.ofHours(4);
    static final int KEPT = 3;
    private static final SecureRandom RANDOM = new SecureRandom();

    private final Clock clock;
    private final Deque<OpenSslSessionTicketKey> keys = new ArrayDeque<>();
    private Instant replaceAt;

    TicketKeys(Clock clock) {
        this.clock = clock;
        replaceAt = clock.instant().plus(LIFE);
        keys.addFirst(create());
    }

    /** Makes a new key if it is time. Returns whether it was: then the contexts have to get the keys anew. */
    boolean rotate() {
        if (clock.instant().isBefore(replaceAt)) {
            return false;
        }
        replaceAt = clock.instant().plus(LIFE);
        keys.addFirst(create());
        if (keys.size() > KEPT) {
            keys.removeLast();
        }
        return true;
    }

    /** The first one seals, all of them open. */
    void giveTo(SslContext context) {
        if (context.sessionContext() instanceof OpenSslSessionContext openSsl) {
            openSsl.setTicketKeys(keys.toArray(new OpenSslSessionTicketKey[0]));
        }
    }

    private static OpenSslSessionTicketKey create() {
        return new OpenSslSessionTicketKey(random(OpenSslSessionTicketKey.NAME_SIZE),
                random(OpenSslSessionTicketKey.HMAC_KEY_SIZE), random(OpenSslSessionTicketKey.AES_KEY_SIZE));
    }

    private static byte[] random(int size) {
        byte[] bytes = new byte[size];
        RANDOM.nextBytes(bytes);
        return bytes;
    }
}
