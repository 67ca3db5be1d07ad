package dev.culvert.appproxy.credentials;

import dev.culvert.appproxy.access.AuthenticatedCaller;
import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.handlers.spi.HandlerException.Reason;
import java.io.IOException;
import java.security.GeneralSecurityException;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/**
 * Git tokens in a store, encrypted with {@link TokenCipher}. In memory they also stay encrypted until they
 * are used. Runs on the given scheduler, which may block. Opens on first use, or with {@link #open}.
 */
public final class EncryptedGitTokens implements GitTokens {
    /** The maximum number of records of all users and integrations; a record takes about 300 bytes. */
    static final int MAX_RECORDS = 50_000;

    /**
     * The maximum number of unreadable records named in the log. With a wrong key file all may be unreadable.
     */
    private static final int PLACES_IN_LOG = 5;

    private static final Logger LOG = LoggerFactory.getLogger(EncryptedGitTokens.class);

    private final TokenVault vault;
    private final Scheduler blocking;
    private final int maxRecords;
    private final ReentrantLock lock = new ReentrantLock();
    private volatile int unreadable;
    private @Nullable Opened opened;

    EncryptedGitTokens(TokenVault vault, Scheduler blocking, int maxRecords) {
        this.vault = vault;
        this.blocking = blocking;
        this.maxRecords = maxRecords;
    }

    /** Makes the tokens of a configuration. Reads nothing yet. */
    public static EncryptedGitTokens of(TokensConfig config, Scheduler blocking) {
        return new EncryptedGitTokens(TokenVault.of(config), blocking, MAX_RECORDS);
    }

    /**
     * Reads keys and records, and encrypts records of an older key again. A record that no key can decrypt
     * stays unchanged, in case its key is restored; its owner must register again. Errors: IOException naming
     * the invalid file and the reason. Completes empty.
     */
    public Mono<Void> open() {
        return Mono.fromCallable(() -> locked(this::opened)).subscribeOn(blocking).then();
    }

    /**
     * The number of records that no key could decrypt at the last opening and that were not replaced since.
     */
    public int unreadable() {
        return unreadable;
    }

    @Override
    public Mono<GitToken> of(AuthenticatedCaller caller, String integration) {
        return find(TokenPlace.of(caller, integration)).switchIfEmpty(Mono.error(() -> HandlerException.of(
                Reason.FORBIDDEN, "you have registered no Git token for the integration " + integration
                        + "; register one with the mutation registerToGitIntegration")));
    }

    @Override
    public Mono<GitToken> runtime(String integration) {
        return find(TokenPlace.runtime(integration)).switchIfEmpty(Mono.error(() -> HandlerException.of(
                Reason.UNAVAILABLE, "the runtime has no Git token for the integration " + integration
                        + "; an admin registers one with the mutation registerRuntimeGitToken")));
    }

    @Override
    public Mono<Void> put(AuthenticatedCaller caller, String integration, GitToken token) {
        return write(TokenPlace.of(caller, integration), token).then();
    }

    @Override
    public Mono<Void> putRuntime(String integration, GitToken token) {
        return write(TokenPlace.runtime(integration), token).then();
    }

    @Override
    public Mono<Boolean> remove(AuthenticatedCaller caller, String integration) {
        return write(TokenPlace.of(caller, integration), null);
    }

    private Mono<GitToken> find(TokenPlace place) {
        return working(() -> {
            Opened now = opened();
            String record = now.records.get(place);
            if (now.unreadable.contains(place)) {
                throw HandlerException.of(Reason.FORBIDDEN, "the Git token for the integration "
                        + place.integration() + " can't be read any more; register it anew");
            }
            return record == null ? null : now.cipher.decrypt(place, record);
        });
    }

    /** Emits whether there was a record before. */
    private Mono<Boolean> write(TokenPlace place, @Nullable GitToken token) {
        return working(() -> {
            Opened now = opened();
            boolean known = now.records.containsKey(place);
            if (token == null) {
                if (known) {
                    now.store.write(place, null);
                    now.records.remove(place);
                    readable(now, place);
                }
                return known;
            }
            if (!known && now.records.size() >= maxRecords) {
                throw HandlerException.of(Reason.OVERLOADED,
                        "the store of Git tokens is full (" + maxRecords + "); others must be removed first");
            }
            String record = now.cipher.encrypt(place, token);
            now.store.write(place, record);
            now.records.put(place, record);
            readable(now, place);
            return known;
        });
    }

    private void readable(Opened now, TokenPlace place) {
        now.unreadable.remove(place);
        unreadable = now.unreadable.size();
    }

    private <T> Mono<T> working(Callable<@Nullable T> work) {
        return Mono.<T>fromCallable(() -> locked(work))
                .onErrorMap(error -> !(error instanceof HandlerException), EncryptedGitTokens::broken)
                .subscribeOn(blocking);
    }

    private static HandlerException broken(Throwable error) {
        LOG.atError().addKeyValue("error", error.toString()).log("the store of Git tokens failed");
        return HandlerException.of(Reason.UNAVAILABLE,
                "the store of Git tokens can't be used; the log has the reason");
    }

    private <T extends @Nullable Object> T locked(Callable<T> work) throws Exception {
        lock.lock();
        try {
            return work.call();
        } finally {
            lock.unlock();
        }
    }

    private Opened opened() throws IOException, GeneralSecurityException {
        Opened known = opened;
        if (known != null) {
            return known;
        }
        var store = vault.store();
        var fresh = new Opened(store, new TokenCipher(vault.keys()), new HashMap<>(store.read()),
                new HashSet<>());
        int renewed = fresh.renew();
        unreadable = fresh.unreadable.size();
        if (unreadable > 0) {
            LOG.atWarn()
                    .addKeyValue("records", unreadable)
                    .addKeyValue("first", fresh.someUnreadable())
                    .log("Git tokens that no key can decrypt are ignored");
        }
        LOG.atInfo()
                .addKeyValue("records", fresh.records.size())
                .addKeyValue("renewed", renewed)
                .log(
                        "Git tokens opened");
        opened = fresh;
        return fresh;
    }

    /**
     * The state after keys and records are read.
     *
     * @param unreadable the places of {@code records} that no key can decrypt
     */
    private record Opened(TokenStore store, TokenCipher cipher, Map<TokenPlace, String> records,
            Set<TokenPlace> unreadable) {
        /** Encrypts the records of older keys with the current key. Returns their number. */
        int renew() throws IOException {
            int renewed = 0;
            for (var entry : records.entrySet()) {
                String record = renewed(entry.getKey(), entry.getValue());
                if (!record.equals(entry.getValue())) {
                    store.write(entry.getKey(), record);
                    entry.setValue(record);
                    renewed++;
                }
            }
            return renewed;
        }

        private String renewed(TokenPlace place, String record) {
            try {
                return cipher.isCurrent(place, record)
                        ? record
                        : cipher.encrypt(place, cipher.decrypt(place, record));
            } catch (GeneralSecurityException e) {
                unreadable.add(place);
                return record;
            }
        }

        /** The owners of unreadable records, for an operator: ids, no secrets. */
        String someUnreadable() {
            return unreadable.stream()
                    .limit(PLACES_IN_LOG)
                    .map(place -> place.isRuntime()
                            ? "runtime:" + place.integration()
                            : place.account() + "/" + place.user() + ":" + place.integration())
                    .collect(Collectors.joining(", "));
        }
    }
}
