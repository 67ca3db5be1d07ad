package dev.culvert.appproxy.repositories;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** An integration as GraphQL tells it to one caller: {@code registeredUsers} has that caller alone, or nobody. */
record GitIntegration(String name, String provider, @Nullable String apiUrl, String sharingPolicy,
        List<String> registeredUsers) {}
