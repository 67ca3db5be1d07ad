package dev.culvert.admin.webhook;

import org.jspecify.annotations.Nullable;

/** The runtimes that own the webhooks of an inbox, as operators name them. */
public interface WebhookRuntimes {
    /**
     * The name of a runtime.
     *
     * @param account its account
     * @param name its name within the account
     */
    record Name(String account, String name) {
        @Override
        public String toString() {
            return account + "/" + name;
        }
    }

    /** The id of the only runtime, which operators do not name; null: there may be several. */
    @Nullable
    String only();

    /**
     * The id of a runtime. Throws {@link dev.culvert.store.StoreException.Absent} if there is none, and what
     * the part throws for an invalid name.
     */
    String id(String account, String name);

    /** The name of a runtime; null if it was just deleted, or is the only one. */
    @Nullable
    Name name(String id);
}
