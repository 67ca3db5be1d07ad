package dev.culvert.platform.host.spi;

import java.security.Principal;
import org.jspecify.annotations.Nullable;

/** A caller that proved who it is: a user, or a runtime with its own key. */
public interface PlatformCaller extends Principal {
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

    /** Its name in logs and audit records. */
    @Override
    String getName();
}
