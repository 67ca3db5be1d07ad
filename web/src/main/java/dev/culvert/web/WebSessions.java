package dev.culvert.web;

import java.nio.ByteBuffer;
import java.security.SecureRandom;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The sessions of people who have logged in, in memory: they end with the process. Of a session's id only the
 * hash is kept. Bounded in total and for each account: a further log-in of an account ends the account's
 * session that was not used for longest. Thread-safe; nothing blocks but {@link #begin}.
 */
final class WebSessions {
    /** The time after which an unused session ends. */
    static final Duration IDLE = Duration.ofMinutes(30);
    /** The time after which every session ends. */
    static final Duration LONGEST = Duration.ofHours(12);
    static final int MAX_OF_ACCOUNT = 16;
    static final int MAX = 2048;
    private static final int ID_BYTES = 32;

    private final Clock clock;
    private final SecureRandom random = new SecureRandom();
    private final Map<ByteBuffer, WebSession> byHash = new HashMap<>();

    WebSessions(Clock clock) {
        this.clock = clock;
    }

    /**
     * Begins a session. Returns its id, or null when there are too many sessions. Blocks: it reads random
     * bytes.
     */
    @Nullable
    String begin(WebUser user) {
        String id = secret();
        WebSession session = new WebSession(user, secret(), clock.instant());
        synchronized (byHash) {
            endOld();
            if (count(user.name()) >= MAX_OF_ACCOUNT) {
                endOldest(user.name());
            }
            if (byHash.size() >= MAX) {
                return null;
            }
            byHash.put(hash(id), session);
        }
        return id;
    }

    /** The session with an id, or null. The session counts as used now. */
    @Nullable
    WebSession use(String id) {
        Instant now = clock.instant();
        synchronized (byHash) {
            WebSession session = byHash.get(hash(id));
            if (session == null) {
                return null;
            }
            if (isOld(session, now)) {
                remove(session);
                return null;
            }
            session.use(now);
            return session;
        }
    }

    /** Whether a session goes on. Does not count as use, so an open page alone keeps no session alive. */
    boolean goesOn(WebSession session) {
        return !session.isEnded() && !isOld(session, clock.instant());
    }

    void end(WebSession session) {
        synchronized (byHash) {
            remove(session);
        }
    }

    int size() {
        synchronized (byHash) {
            return byHash.size();
        }
    }

    private void remove(WebSession session) {
        session.end();
        byHash.values().remove(session);
    }

    private void endOld() {
        Instant now = clock.instant();
        byHash.values().removeIf(session -> {
            boolean old = isOld(session, now);
            if (old) {
                session.end();
            }
            return old;
        });
    }

    private long count(String account) {
        return byHash.values().stream().filter(session -> session.user().name().equals(account)).count();
    }

    private void endOldest(String account) {
        byHash.values()
                .stream()
                .filter(session -> session.user().name().equals(account))
                .min(Comparator.comparing(WebSession::used))
                .ifPresent(this::remove);
    }

    private static boolean isOld(WebSession session, Instant now) {
        return !now.isBefore(session.used().plus(IDLE)) || !now.isBefore(session.created().plus(LONGEST));
    }

    private String secret() {
        byte[] bytes = new byte[ID_BYTES];
        random.nextBytes(bytes);
        return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
    }

    private static ByteBuffer hash(String id) {
        return ByteBuffer.wrap(Assets.sha256(id));
    }
}
