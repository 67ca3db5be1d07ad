package dev.culvert.certs.tls;

import io.netty.handler.ssl.OpenSslServerSessionContext;
import io.netty.handler.ssl.OpenSslSessionTicketKey;
import io.netty.handler.ssl.SslContext;
import java.security.SecureRandom;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Deque;

/**
 * The keys that encrypt the TLS session tickets of one listener. They are random, exist only in memory, and
 * are rotated every 4 hours. Tickets of the two previous keys still resume a session, so a ticket is valid
 * for 8 to 12 hours, but not after a restart. All contexts of a listener share the keys and the session ID
 * context, so that tickets stay valid when a certificate changes; no other listener accepts them. Java's
 * engine, used without BoringSSL, manages its own keys in the same way. Used by one thread at a time.
 */
final class TicketKeys {
    static final Duration LIFE = Duration.ofHours(4);
    static final int KEPT = 3;
    /** The maximum of BoringSSL. */
    private static final int ID_BYTES = 32;
    private static final SecureRandom RANDOM = new SecureRandom();

    private final Clock clock;
    private final Deque<OpenSslSessionTicketKey> keys = new ArrayDeque<>();
    /** By default Netty derives it from the certificate, and tickets would end with it. */
    private final byte[] sessionIdContext = random(ID_BYTES);
    private Instant replaceAt;

    TicketKeys(Clock clock) {
        this.clock = clock;
        replaceAt = clock.instant().plus(LIFE);
        keys.addFirst(create());
    }

    /**
     * Creates a new key if the rotation is due. Returns whether it did; then {@link #giveTo} must be called
     * for all contexts.
     */
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

    /** Sets the keys of a context. The first key encrypts tickets, all keys decrypt them. */
    void giveTo(SslContext context) {
        if (context.sessionContext() instanceof OpenSslServerSessionContext openSsl) {
            openSsl.setSessionIdContext(sessionIdContext);
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
