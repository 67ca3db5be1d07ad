package dev.culvert.platform.directory.store;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import dev.culvert.platform.directory.wrapping.KeyWrapping;
import dev.culvert.platform.directory.wrapping.KeyWrapping.Wrapped;
import dev.culvert.platform.directory.wrapping.WrappingException;
import dev.culvert.platform.host.spi.Store;
import dev.culvert.store.StoreException;
import java.security.SecureRandom;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Clock;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import javax.crypto.SecretKey;
import javax.crypto.spec.SecretKeySpec;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;
import reactor.util.retry.Retry;

/**
 * The keys that sign runtime tokens. One signs, earlier ones verify until the last of their tokens has ended.
 * The database has them wrapped; which one signs, and which still verify, is read there each time, so all
 * processes agree. Errors: {@link StoreException}, {@link WrappingException}.
 */
public final class SigningKeys {
    /** The length of a secret: that of the hash (RFC 7518 §3.2). */
    static final int SECRET_BYTES = 32;
    /** The maximum number of keys. Each rotation adds one, and one leaves an hour after its successor. */
    static final int MAX_KEYS = 16;
    /**
     * How long a key is stored before it signs, in seconds. Processes read the table when they meet a key
     * that they do not know; this only covers what they do at that moment.
     */
    static final int SIGNS_AFTER_SECONDS = 5;
    /** What the clocks of two processes may differ by, in seconds. */
    static final int SKEW_SECONDS = 60;

    private static final int KID_BYTES = 8;
    private static final Logger log = LoggerFactory.getLogger(SigningKeys.class);

    private final Store store;
    private final KeyWrapping wrapping;
    private final Clock clock;
    private final SecureRandom random = new SecureRandom();
    /** Whether other processes may use the same keys. */
    private volatile boolean isShared;
    /** Unwrapped secrets by kid. Whether a key still verifies is never answered from here. */
    private final Cache<String, SecretKey> secrets = Caffeine.newBuilder().maximumSize(2 * MAX_KEYS).build();

    public SigningKeys(Store store, KeyWrapping wrapping, Clock clock) {
        this.store = store;
        this.wrapping = wrapping;
        this.clock = clock;
    }

    /** A key with its secret. */
    record Unwrapped(String kid, SecretKey secret) {
        @Override
        public String toString() {
            return "Unwrapped[" + kid + ", ***]";
        }
    }

    /**
     * A key, for operators.
     *
     * @param wrappedBy the id of the key that wraps it
     * @param created seconds since 1970
     * @param signsFrom seconds since 1970, from which on it signs, until the next does
     */
    public record View(String kid, String wrappedBy, long created, long signsFrom) {
        static View of(TokenKey key) {
            return new View(key.kid(), key.wrapped().keyId(), key.created(), key.signsFrom());
        }
    }

    /**
     * Makes the first key, or proves that the present ones can be unwrapped. Completes empty.
     *
     * @param replace whether keys that can't be unwrapped are replaced, which ends their tokens; else the
     *     error is emitted
     */
    public Mono<Void> open(boolean replace) {
        isShared = !replace;
        return store.read(TokenKeyTable::all)
                .flatMap(present -> blocking(() -> fitting(present, replace)))
                .flatMap(missing -> missing.isEmpty() ? Mono.empty() : begin(missing.get()))
                // Another process made the first key meanwhile: it has to fit, too.
                .retryWhen(Retry.max(2).filter(StoreException.Busy.class::isInstance))
                .then(store.change(this::forgetEnded))
                .then();
    }

    /** A first key, unless the present ones fit. */
    private Optional<TokenKey> fitting(List<TokenKey> present, boolean replace) {
        if (present.isEmpty()) {
            wrapping.begin(true);
            return Optional.of(create(1, 0));
        }
        try {
            wrapping.begin(false);
            present.forEach(this::unwrapped);
            return Optional.empty();
        } catch (WrappingException failed) {
            if (!replace || failed.kind() == WrappingException.Kind.UNUSABLE) {
                throw failed;
            }
            wrapping.begin(true);
            log.atWarn()
                    .addKeyValue("reason", failed.getMessage())
                    .log("keys of runtime tokens can't be unwrapped: a new one is made, their tokens end");
            return Optional.of(create(present.getLast().generation() + 1, 0));
        }
    }

    private Mono<Void> begin(TokenKey first) {
        return store.change(connection -> {
            List<TokenKey> present = TokenKeyTable.all(connection);
            if (!present.isEmpty() && present.getLast().generation() >= first.generation()) {
                throw new StoreException.Busy("another process has just made the first key");
            }
            for (TokenKey old : present) {
                TokenKeyTable.remove(connection, old.kid());
            }
            TokenKeyTable.add(connection, first);
            return first;
        }).then();
    }

    /** Deletes keys for all processes, so the clock of none of them counts. */
    private boolean forgetEnded(Connection connection) throws SQLException {
        long now = store.now(connection, clock) / 1_000;
        for (TokenKey key : TokenKeyTable.all(connection)) {
            if (!verifies(TokenKeyTable.succeededAt(connection, key.kid()), now)) {
                TokenKeyTable.remove(connection, key.kid());
            }
        }
        return true;
    }

    /** Whether a key still verifies, from the time at which its successor signs. */
    static boolean verifies(@Nullable Long succeededAt, long now) {
        return succeededAt == null || now < succeededAt + RuntimeTokens.MAX_SECONDS + SKEW_SECONDS;
    }

    /** All keys, the oldest first. */
    public Mono<List<View>> list() {
        return store.read(connection -> TokenKeyTable.all(connection).stream().map(View::of).toList());
    }

    /**
     * Makes a new key, which signs a few seconds later, and wraps those that another key wrapped with the
     * present one. Errors: Full after too many within an hour.
     *
     * @param endOthers whether the present keys are deleted, which ends all tokens at once
     * @param renewWrapping whether a new key wraps them; Conflict where other processes have to know it, too
     */
    public Mono<View> rotate(boolean endOthers, boolean renewWrapping) {
        if (renewWrapping && isShared) {
            return Mono.error(new StoreException.Conflict("several processes may use this database (expected:"
                    + " the same new line put first into tokenKeys.file of each, then a rotation)"));
        }
        return renewWrapping
                ? store.change(connection -> View.of(renew(connection, endOthers)))
                : store.read(TokenKeyTable::all)
                        .flatMap(present -> blocking(() -> rotation(present, endOthers)))
                        .flatMap(made -> store.change(connection -> {
                            requireRoom(connection, made.endOthers());
                            return View.of(rotate(connection, made));
                        }));
    }

    /**
     * The keys that wrap are in a file of this process alone: it is changed within the transaction, so that a
     * refused or repeated rotation adds none.
     */
    private TokenKey renew(Connection connection, boolean endOthers) throws SQLException {
        requireRoom(connection, endOthers);
        List<TokenKey> present = TokenKeyTable.all(connection);
        if (!endOthers) {
            present.forEach(this::unwrapped); // or nothing is changed
        }
        wrapping.renew(present.stream().map(key -> key.wrapped().keyId()).collect(Collectors.toSet()));
        return rotate(connection, rotation(present, endOthers));
    }

    private void requireRoom(Connection connection, boolean endOthers) throws SQLException {
        forgetEnded(connection);
        if (!endOthers && TokenKeyTable.all(connection).size() >= MAX_KEYS) {
            throw new StoreException.Full(MAX_KEYS
                    + " keys of runtime tokens were made within an hour; wait, or end the others");
        }
    }

    /** What a rotation stores. */
    private record Rotation(TokenKey key, boolean endOthers, List<TokenKey> rewrapped) {}

    private Rotation rotation(List<TokenKey> present, boolean endOthers) {
        String with = wrapping.keyId();
        long generation = present.isEmpty() ? 1 : present.getLast().generation() + 1;
        List<TokenKey> rewrapped = endOthers
                ? List.of()
                : present.stream()
                        .filter(key -> !key.wrapped().keyId().equals(with))
                        .map(key -> new TokenKey(key.kid(), key.generation(),
                                wrapping.wrap(unwrapped(key).secret().getEncoded(), key.kid()), key.created(),
                                key.signsFrom()))
                        .toList();
        boolean isAlone = endOthers || present.isEmpty();
        return new Rotation(create(generation, isAlone ? 0 : now() + SIGNS_AFTER_SECONDS), endOthers,
                rewrapped);
    }

    private TokenKey rotate(Connection connection, Rotation made) throws SQLException {
        if (made.endOthers()) {
            for (TokenKey old : TokenKeyTable.all(connection)) {
                TokenKeyTable.remove(connection, old.kid());
            }
        }
        long now = store.now(connection, clock) / 1_000;
        TokenKey key = made.key().signsFrom() == 0
                ? made.key().at(now, 0)
                : made.key().at(now, now + SIGNS_AFTER_SECONDS);
        if (!TokenKeyTable.add(connection, key)) {
            throw new StoreException.Busy("another process rotates at the same time");
        }
        for (TokenKey old : made.rewrapped()) {
            TokenKeyTable.rewrap(connection, old.kid(), old.wrapped());
        }
        return key;
    }

    /** The secret of a key as it was read; null: there is no such key. */
    Mono<Unwrapped> unwrap(@Nullable TokenKey key) {
        if (key == null) {
            return Mono.empty();
        }
        SecretKey known = secrets.getIfPresent(key.kid());
        return known == null ? blocking(() -> unwrapped(key)) : Mono.just(new Unwrapped(key.kid(), known));
    }

    /**
     * The secret of a key; empty if there is none. A made-up kid costs one look-up by the primary key, as a
     * genuine token does.
     */
    Mono<Unwrapped> unwrap(String kid) {
        SecretKey known = secrets.getIfPresent(kid);
        return known == null
                ? store.read(connection -> Optional.ofNullable(TokenKeyTable.key(connection, kid)))
                        .flatMap(found -> unwrap(found.orElse(null)))
                : Mono.just(new Unwrapped(kid, known));
    }

    private Unwrapped unwrapped(TokenKey key) {
        SecretKey secret = new SecretKeySpec(wrapping.unwrap(key.wrapped(), key.kid()), "HmacSHA256");
        secrets.put(key.kid(), secret);
        return new Unwrapped(key.kid(), secret);
    }

    private TokenKey create(long generation, long signsFrom) {
        byte[] id = new byte[KID_BYTES];
        random.nextBytes(id);
        String kid = HexFormat.of().formatHex(id);
        byte[] secret = new byte[SECRET_BYTES];
        random.nextBytes(secret);
        Wrapped wrapped = wrapping.wrap(secret, kid);
        return new TokenKey(kid, generation, wrapped, now(), signsFrom);
    }

    private long now() {
        return clock.instant().getEpochSecond();
    }

    private static <T> Mono<T> blocking(Callable<T> work) {
        return Mono.fromCallable(work).subscribeOn(Schedulers.boundedElastic());
    }
}
