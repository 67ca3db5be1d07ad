package dev.culvert.server.token;

import dev.culvert.server.runtime.RuntimeStore;
import dev.culvert.store.StoreException;
import java.util.List;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * The named admin tokens, as hashes. Look-ups answer from memory on any thread; changes as in {@link RuntimeStore}. Errors:
 * {@link StoreException}.
 */
public interface AdminTokenStore {
    /** At most so many; each is looked up by its name. */
    int MAX_TOKENS = 100;

    /** The token of a name, or null. */
    @Nullable
    NamedToken adminToken(String name);

    /** All, in the order of their names. */
    List<NamedToken> adminTokens();

    /** Keeps a new token. Errors: {@link StoreException.Conflict} for a name that is taken, {@link StoreException.Full}. */
    Mono<NamedToken> createAdminToken(NamedToken token);

    /**
     * Puts what {@code change} makes of a token in its place, in one transaction: no other change comes between. Errors:
     * {@link StoreException.Absent}.
     */
    Mono<NamedToken> replaceAdminToken(String name, UnaryOperator<NamedToken> change);

    /** Forgets a token. Errors: {@link StoreException.Absent}. */
    Mono<NamedToken> deleteAdminToken(String name);
}
