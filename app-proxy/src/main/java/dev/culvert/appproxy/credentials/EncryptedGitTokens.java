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
 * Tokens in a store, encrypted with {@link TokenCipher}; in memory too they stay encrypted until somebody asks. Works on
 * the given scheduler, which may block. Opens itself when it is first used, or with {@link #open}.
 */
public final class EncryptedGitTokens implements GitTokens {
    /** Of all users and integrations; a record takes about 300 bytes. */
    static final int MAX_RECORDS = 50_000;

    /** With another key file none may fit: the log names a few. */
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

    /** Those of a configuration. Reads nothing yet. */
    public static EncryptedGitTokens of(TokensConfig config, Scheduler blocking) {
        return new EncryptedGitTokens(TokenVault.of(config), blocking, MAX_RECORDS);
    }

    /**
     * Reads keys and records, and encrypts again what an older key had encrypted. A record that no key fits stays as it is,
     * for the day its key comes back; its owner counts as one who registered none. Errors: IOException that says which file
     * is wrong and how. Completes empty.
     */
    public Mono<Void> open() {
        return Mono.fromCallable(() -> locked(this::opened)).subscribeOn(blocking).then();
    }

    /** Records that no key fits, as far as they are known: those of the last opening that were not replaced since. */
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

    /** Completes with whether there was one before. */
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
                "the store of Git tokens can't be used; its operator finds why in the log");
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
                    .log("Git tokens that no key fits are left out");
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
     * What is there once keys and records are read.
     *
     * @param unreadable places of {@code records} that no key fits
     */
    private record Opened(TokenStore store, TokenCipher cipher, Map<TokenPlace, String> records,
            Set<TokenPlace> unreadable) {
        /** Encrypts with the current key what is not; returns how many. */
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

        /** Whose they are, for an operator: ids and no secrets. */
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
