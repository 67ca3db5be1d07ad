package dev.culvert.platform.directory;

import org.jspecify.annotations.Nullable;

/**
 * Who presented a key.
 *
 * @param user null for a runtime
 */
record Holder(StoredKey key, @Nullable User user) {
    String account() {
        return key.account();
    }

    /** For logs and the audit trail. */
    String name() {
        return user == null ? "runtime " + key.runtime() : user.id();
    }

    boolean isAdmin() {
        return user != null && (user.admin() || user.operator());
    }

    boolean isOperator() {
        return user != null && user.operator();
    }
}
