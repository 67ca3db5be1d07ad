package dev.culvert.platform.host.spi;

import reactor.core.publisher.Mono;

/**
 * Gives an operator access again, from the machine. Offered by the module that holds users and keys. Used
 * without a start of the modules.
 */
public interface OperatorRecovery {
    /**
     * Gives an operator a new API key, and makes an operator if there is none. What {@code keep} throws
     * undoes it. Always emits a value. Errors: {@link dev.culvert.store.StoreException}.
     */
    Mono<Recovered> recover(KeyReceiver keep);

    /** Stores the text of the new key. May block. */
    @FunctionalInterface
    interface KeyReceiver {
        void keep(String key);
    }

    /**
     * What was done.
     *
     * @param account the id of the operator's account
     * @param user the operator's id
     * @param email the operator's address
     * @param key the id of the new API key
     * @param isNew whether the operator was made
     * @param others the number of other valid keys of operators
     */
    record Recovered(String account, String user, String email, String key, boolean isNew, int others) {}
}
