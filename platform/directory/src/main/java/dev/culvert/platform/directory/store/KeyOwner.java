package dev.culvert.platform.directory.store;

import dev.culvert.platform.host.spi.PlatformCaller;
import org.jspecify.annotations.Nullable;

/**
 * The holder of a presented key.
 *
 * @param user null for a runtime
 */
public record KeyOwner(StoredKey key, @Nullable User user) implements PlatformCaller {
    /** The caller as the directory knows it: all callers are key owners, because the directory finds them. */
    public static KeyOwner of(PlatformCaller caller) {
        if (caller instanceof KeyOwner owner) {
            return owner;
        }
        throw new IllegalArgumentException("callers are found by the directory");
    }

    @Override
    public String account() {
        return key.account();
    }

    @Override
    public @Nullable String userId() {
        return user == null ? null : user.id();
    }

    @Override
    public @Nullable String runtime() {
        return key.runtime();
    }

    @Override
    public String getName() {
        return user == null ? "runtime " + key.runtime() : user.id();
    }

    @Override
    public boolean isAdmin() {
        return user != null && (user.admin() || user.operator());
    }

    @Override
    public boolean isOperator() {
        return user != null && user.operator();
    }
}
