package dev.culvert.server.token;

import dev.culvert.server.runtime.RuntimeStore;
import dev.culvert.store.StoreException;
import java.util.List;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * The named admin tokens, as hashes. Look-ups read memory, on any thread. Changes run as in {@link
 * RuntimeStore}. Errors: {@link StoreException}.
 */
public interface AdminTokenStore {
    /** The maximum number of tokens. */
    int MAX_TOKENS = 100;

    /** The token with a name, or null. */
    @Nullable
    NamedToken adminToken(String name);

    /** All tokens, ordered by name. */
    List<NamedToken> adminTokens();

    /**
     * Stores a new token. Errors: {@link StoreException.Conflict} for a name that is taken, {@link
     * StoreException.Full}.
     */
    Mono<NamedToken> createAdminToken(NamedToken token);

    /**
     * Replaces a token by the result of {@code change}, in one transaction: no other change runs in between.
     * Errors: {@link StoreException.Absent}.
     */
    Mono<NamedToken> replaceAdminToken(String name, UnaryOperator<NamedToken> change);

    /** Deletes a token. Errors: {@link StoreException.Absent}. */
    Mono<NamedToken> deleteAdminToken(String name);
}
