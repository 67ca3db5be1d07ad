package dev.culvert.server.runtime;

import dev.culvert.certs.Sha256;
import dev.culvert.relay.quota.OwnLimits;
import dev.culvert.server.access.AccessRules;
import dev.culvert.store.StoreException;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * The runtimes and their enrolment tokens. Durable: a change has reached the disk before its {@code Mono}
 * emits.
 *
 * <p>Look-ups answer from memory, never block, take no lock, and may be called on any thread. Changes run one
 * after another on the store's own thread, once their {@code Mono} is subscribed. Every look-up sees a change
 * before its {@code Mono} emits. Cancelling drops a change that has not begun; a change is never applied in
 * part. Errors: {@link StoreException}.
 */
public interface RuntimeStore {
    /**
     * The runtime of an authority as sent by a caller: with or without port, in any case, with or without a
     * trailing dot. Null when there is none.
     */
    @Nullable
    RegisteredRuntime byHost(String authority);

    /** The runtime with an id, or null. */
    @Nullable
    RegisteredRuntime byId(String runtimeId);

    /** The runtime whose certificates carry an identity, or null: deleted, or revoked since. */
    @Nullable
    RegisteredRuntime byIdentity(String identity);

    /** The runtime with a name, or null. */
    @Nullable
    RegisteredRuntime byName(RuntimeName name);

    /** All runtimes, ordered by name. */
    List<RegisteredRuntime> runtimes();

    /**
     * The runtimes of a scope, ordered by name.
     *
     * @param after begins after this name; null: with the first
     * @param limit the maximum number
     */
    List<RegisteredRuntime> runtimes(RuntimeScope scope, @Nullable RuntimeName after, int limit);

    /** The token with an id, expired or not, or null. Tokens that expired long ago are deleted. */
    @Nullable
    StoredToken token(String tokenId);

    /**
     * Stores a new runtime with its first token, both or neither. Errors: {@link StoreException.Conflict}
     * when its name or one of its hosts is taken, {@link StoreException.Full}. Emits the runtime: that
     * stored before, unchanged, if it has the same origin.
     */
    Mono<RegisteredRuntime> create(RegisteredRuntime runtime, StoredToken first);

    /**
     * Stores a new runtime with an upstream, which has no tokens. Errors and result as those of {@link
     * #create(RegisteredRuntime, StoredToken)}.
     */
    Mono<RegisteredRuntime> create(RegisteredRuntime hosted);

    /**
     * Deletes a runtime and its tokens. Errors: {@link StoreException.Absent}; {@link StoreException.Failed}
     * when the deletion can't be written. Then the runtime stays, but look-ups no longer find its identity
     * and tokens. Emits the deleted runtime.
     *
     * @param scope runtimes out of it are absent
     */
    Mono<RegisteredRuntime> delete(RuntimeName name, RuntimeScope scope);

    /** Deletes any runtime. */
    default Mono<RegisteredRuntime> delete(RuntimeName name) {
        return delete(name, RuntimeScope.ALL);
    }

    /**
     * Replaces a runtime's custom hosts. Errors: {@link StoreException.Absent}, {@link
     * StoreException.Conflict} when one belongs to another runtime, {@link InvalidNameException} for too
     * many. Emits the changed runtime.
     *
     * @param scope runtimes out of it are absent
     */
    Mono<RegisteredRuntime> replaceHosts(RuntimeName name, List<String> hosts, RuntimeScope scope);

    /** Replaces the custom hosts of any runtime. */
    default Mono<RegisteredRuntime> replaceHosts(RuntimeName name, List<String> hosts) {
        return replaceHosts(name, hosts, RuntimeScope.ALL);
    }

    /** Replaces a runtime's own limits. Errors: {@link StoreException.Absent}. Emits the changed runtime. */
    Mono<RegisteredRuntime> replaceLimits(RuntimeName name, OwnLimits limits);

    /**
     * Replaces a runtime's access rules. Errors: {@link StoreException.Absent}. Emits the changed runtime.
     */
    Mono<RegisteredRuntime> replaceAccess(RuntimeName name, AccessRules rules);

    /**
     * Replaces the upstream of a hosted runtime. Errors: {@link StoreException.Absent}, {@link
     * StoreException.Conflict} for a runtime with a tunnel. Emits the changed runtime.
     */
    Mono<RegisteredRuntime> replaceUpstream(RuntimeName name, RuntimeUpstream upstream);

    /**
     * Gives a runtime another identity and deletes its tokens. Errors: {@link StoreException.Absent}; {@link
     * StoreException.Failed} when the change can't be written now. Then it is effective for look-ups all the
     * same, and is written as soon as possible. Emits the changed runtime.
     *
     * @param identity never used before
     */
    Mono<RegisteredRuntime> revoke(RuntimeName name, String identity);

    /**
     * Stores the time of an identity's first connection. Later connections write nothing, so they do not wait
     * for the disk. Errors: {@link StoreException}. Completes empty, also when no runtime has the identity
     * any more.
     */
    Mono<Void> connected(String identity);

    /**
     * Stores that {@code successor} renews a certificate of {@code key}, before the new certificate is
     * issued. Repeating the call is harmless. Errors: {@link StoreException.Conflict} when another key has
     * renewed it before.
     *
     * @param key the hash of the replaced public key
     * @param successor the hash of the public key that replaces it
     * @param until the time after which no certificate of {@code key} can be renewed
     */
    Mono<Void> renewed(String runtimeId, Sha256 key, Sha256 successor, Instant until);

    /**
     * Stores another token of a runtime. Errors: {@link StoreException.Absent}, {@link StoreException.Full}.
     */
    Mono<StoredToken> add(StoredToken token);

    /**
     * Binds a token to the key that uses it. Errors: {@link StoreException.Absent}; {@link
     * StoreException.Conflict} when another key has used it before. Emits the bound token.
     *
     * @param keyHash SHA-256 of the public key
     * @param certificate the certificate issued for that key, as PEM
     */
    Mono<StoredToken> use(String tokenId, Sha256 keyHash, String certificate);

    /**
     * Finishes the changes under way and releases the database to another process at once. Look-ups go on
     * from memory; later changes fail with {@link StoreException.Held}. Completes empty, at once when called
     * again.
     */
    Mono<Void> release();

    /**
     * Whether {@link #release} was called: another process may know runtimes and tokens that are unknown
     * here.
     */
    boolean isReleased();

    /**
     * After {@link #release}: emits the runtimes that the next holder has revoked or deleted, as they were
     * before. Emits soon after the change, once look-ups no longer find their identities. Never completes;
     * cancel it.
     */
    Flux<RegisteredRuntime> endedBySuccessor();

    /**
     * Errors with {@link StoreException.Held} as soon as this process notices that another one has taken over
     * the database, because this one was paused for too long. Results of look-ups may be out of date then.
     * Never completes; no error after {@link #release}.
     */
    Mono<Void> lost();

    /** Finishes the changes under way and closes the database. Later changes fail. Completes empty. */
    Mono<Void> close();
}
