package dev.culvert.platform.host.spi;

import dev.culvert.handlers.spi.QuotaHolder;
import org.jspecify.annotations.Nullable;

/** A caller that proved who it is: a user, or a runtime with its own key. */
public interface PlatformCaller extends QuotaHolder {
    /** The id of its account. */
    String account();

    /** The id of the user; null for a runtime. */
    @Nullable
    String userId();

    /** The name of the runtime; null for a user. */
    @Nullable
    String runtime();

    /** Whether it administers its account. */
    boolean isAdmin();

    /** Whether it is an operator: an administrator of all accounts. */
    boolean isOperator();

    /** The callers of an account share its places: an account may have any number of users. */
    @Override
    default String quotaKey() {
        return account();
    }

    /** Its name in logs and audit records, unique within its account. */
    @Override
    String getName();
}
