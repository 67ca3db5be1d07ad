package dev.culvert.appproxy.repositories;

import dev.culvert.appproxy.credentials.TokensConfig;
import dev.culvert.config.ConfigException;
import dev.culvert.config.Setting;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;

/**
 * Settings of the handler {@code repositories}.
 *
 * @param integrations providers and folders; the first is the default
 * @param tokens the storage of Git tokens
 * @param timeout the limit for one call to a provider
 * @param maxWait the total wait of a call for a provider that limits its rate
 */
public record RepositoriesConfig(
        @Setting(value = "Git providers and folders of repositories; the first is the default", accepts = "a list, each with name, kind and apiUrl or folder", fileOnly = true) List<IntegrationConfig> integrations,
        TokensConfig tokens,
        @Setting(value = "How long one call to a provider may take, answer included", byDefault = "10s", accepts = "100ms..5m") Duration timeout,
        @Setting(value = "How long a call waits for a provider that limits its rate; after that the caller gets 429 with a Retry-After", byDefault = "2s", accepts = "0s..30s") Duration maxWait) {
    private static final Duration MAX_TIMEOUT = Duration.ofMinutes(5);
    private static final Duration MIN_TIMEOUT = Duration.ofMillis(100);
    private static final Duration MAX_WAIT = Duration.ofSeconds(30);
    private static final int MAX_INTEGRATIONS = 100;

    public RepositoriesConfig {
        integrations = List.copyOf(integrations);
        var names = new HashSet<String>();
        boolean twice = !integrations.stream().allMatch(integration -> names.add(integration.name()));
        if (integrations.isEmpty() || integrations.size() > MAX_INTEGRATIONS || twice) {
            throw new ConfigException("integrations", "1..100 integrations, no two of one name");
        }
        if (timeout.compareTo(MIN_TIMEOUT) < 0 || timeout.compareTo(MAX_TIMEOUT) > 0) {
            throw new ConfigException("timeout", "100ms..5m; remove the key for the default 10s");
        }
        if (maxWait.compareTo(MAX_WAIT) > 0) {
            throw new ConfigException("maxWait", "0s..30s; remove the key for the default 2s");
        }
    }

    /** Makes a configuration with the default times. */
    public static RepositoriesConfig of(List<IntegrationConfig> integrations, TokensConfig tokens) {
        return new RepositoriesConfig(integrations, tokens, Duration.ofSeconds(10), Duration.ofSeconds(2));
    }
}
