package dev.culvert.server.runtime;

import dev.culvert.relay.quota.OwnLimits;
import dev.culvert.server.access.AccessRules;
import dev.culvert.store.StoreException;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * The runtimes and their enrolment tokens. Durable: a change has reached the disk before its {@code Mono} emits.
 *
 * <p>Look-ups answer from memory, never block, take no lock, and may be called on any thread. Changes happen one after
 * another on the store's own thread, once their {@code Mono} is subscribed, and are seen by every look-up before the
 * {@code Mono} emits. Cancelling drops a change that has not begun, and never leaves half of one. Errors: {@link
 * StoreException}.
 */
public interface RuntimeStore {
    /**
     * The runtime that answers to an authority as a caller sent it: with or without port, in any case, with or without
     * a trailing dot. Null when there is none.
     */
    @Nullable
    RegisteredRuntime byHost(String authority);

    /** The runtime of an id, or null. */
    @Nullable
    RegisteredRuntime byId(String runtimeId);

    /** The runtime that certificates of an identity are for, or null: deleted, or revoked since. */
    @Nullable
    RegisteredRuntime byIdentity(String identity);

    /** The runtime of a name, or null. */
    @Nullable
    RegisteredRuntime byName(RuntimeName name);

    /** All runtimes, in the order of their names. */
    List<RegisteredRuntime> runtimes();

    /** The token of an id, expired or not, or null. Long expired ones are forgotten. */
    @Nullable
    StoredToken token(String tokenId);

    /**
     * Keeps a new runtime with its first token, both or neither. Errors: {@link StoreException.Conflict} when its name
     * or one of its hosts is taken, {@link StoreException.Full}. Emits the runtime.
     */
    Mono<RegisteredRuntime> create(RegisteredRuntime runtime, StoredToken first);

    /**
     * Forgets a runtime and its tokens. Errors: {@link StoreException.Absent}; {@link StoreException.Failed} when that can't be
     * written: the runtime stays, but look-ups know no more of its identity and tokens. Emits what was forgotten.
     */
    Mono<RegisteredRuntime> delete(RuntimeName name);

    /**
     * Gives a runtime other custom hosts in place of those that it has. Errors: {@link StoreException.Absent}, {@link
     * StoreException.Conflict} when one belongs to another runtime, {@link InvalidNameException} for too many. Emits the
     * runtime as it is now.
     */
    Mono<RegisteredRuntime> replaceHosts(RuntimeName name, List<String> hosts);

    /**
     * Gives a runtime these limits of its own in place of those that it has. Errors: {@link StoreException.Absent}. Emits the
     * runtime as it is now.
     */
    Mono<RegisteredRuntime> replaceLimits(RuntimeName name, OwnLimits limits);

    /**
     * Gives a runtime these access rules in place of those that it has. Errors: {@link StoreException.Absent}. Emits the
     * runtime as it is now.
     */
    Mono<RegisteredRuntime> replaceAccess(RuntimeName name, AccessRules rules);

    /**
     * Gives a runtime another identity and forgets its tokens. Errors: {@link StoreException.Absent}; {@link
     * StoreException.Failed} when that can't be written now: it holds for look-ups all the same, and is written as soon as that is
     * possible. Emits the runtime as it is now.
     *
     * @param identity never used before
     */
    Mono<RegisteredRuntime> revoke(RuntimeName name, String identity);

    /**
     * Notes that a client of an identity connected, if none did before: once in a runtime's life, so that a connect waits for
     * no disk. Errors: {@link StoreException}. Completes empty, also when no runtime has the identity any more.
     */
    Mono<Void> connected(String identity);

    /**
     * Notes that a certificate of {@code key} is renewed by {@code successor}, before another certificate is issued. The same
     * again is harmless. Errors: {@link StoreException.Conflict} when another key followed it before.
     *
     * @param key the hash of the public key that is replaced
     * @param successor the hash of that which replaces it
     * @param until when no certificate of {@code key} can be renewed any more
     */
    Mono<Void> renewed(String runtimeId, Sha256 key, Sha256 successor, Instant until);

    /** Keeps another token of a runtime. Errors: {@link StoreException.Absent}, {@link StoreException.Full}. */
    Mono<StoredToken> add(StoredToken token);

    /**
     * Binds a token to the key it is used with. Errors: {@link StoreException.Absent}; {@link StoreException.Conflict}
     * when another key used it before. Emits the bound token.
     *
     * @param keyHash SHA-256 of the public key
     * @param certificate what that key gets, as PEM
     */
    Mono<StoredToken> use(String tokenId, Sha256 keyHash, String certificate);

    /**
     * Ends the changes under way and lets another process have the database at once. Look-ups go on from memory, later
     * changes fail with {@link StoreException.Held}. Completes empty, at once when called again.
     */
    Mono<Void> release();

    /**
     * After {@link #release}: the runtimes that the next holder has revoked or deleted, as they were, soon after, and once
     * look-ups know no more of their identities. Never completes; cancel it.
     */
    Flux<RegisteredRuntime> endedBySuccessor();

    /**
     * Errors with {@link StoreException.Held} as soon as another process was seen to have taken the database over, because
     * this one was paused for too long. What look-ups answer may be out of date then. Never completes; no error after
     * {@link #release}.
     */
    Mono<Void> lost();

    /** Ends the changes under way and closes the database. Later changes fail. Completes empty. */
    Mono<Void> close();
}
