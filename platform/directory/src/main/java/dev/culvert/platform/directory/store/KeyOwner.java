package dev.culvert.platform.directory.store;

import org.jspecify.annotations.Nullable;

/**
 * The holder of a presented key.
 *
 * @param user null for a runtime
 */
public record KeyOwner(StoredKey key, @Nullable User user) {
    public String account() {
        return key.account();
    }

    /** The name for logs and the audit trail. */
    public String name() {
        return user == null ? "runtime " + key.runtime() : user.id();
    }

    public boolean isAdmin() {
        return user != null && (user.admin() || user.operator());
    }

    public boolean isOperator() {
        return user != null && user.operator();
    }
}
