package dev.culvert.appproxy.repositories;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * An integration in GraphQL results for one caller: {@code registeredUsers} contains only that caller, or is
 * empty.
 */
record GitIntegration(String name, String provider, @Nullable String apiUrl, String sharingPolicy,
        List<String> registeredUsers) {}
