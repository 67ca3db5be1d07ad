package dev.culvert.server;

import java.util.List;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * The named admin tokens, as hashes. Look-ups answer from memory on any thread; changes as in {@link RuntimeStore}. Errors:
 * {@link StoreException}.
 */
interface AdminTokenStore {
    /** At most so many; each is looked up by its name. */
    int MAX_TOKENS = 100;

    /** The token of a name, or null. */
    @Nullable
    NamedToken adminToken(String name);

    /** All, in the order of their names. */
    List<NamedToken> adminTokens();

    /** Keeps a new token. Errors: {@link StoreException.Conflict} for a name that is taken, {@link StoreException.Full}. */
    Mono<NamedToken> createAdminToken(NamedToken token);

    /** Puts a token in the place of the one of its name. Errors: {@link StoreException.Absent}. */
    Mono<NamedToken> replaceAdminToken(NamedToken token);

    /** Forgets a token. Errors: {@link StoreException.Absent}. */
    Mono<NamedToken> deleteAdminToken(String name);
}
