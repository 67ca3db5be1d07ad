package dev.culvert.appproxy.access;

import dev.culvert.config.ConfigException;
import dev.culvert.config.Setting;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The control plane, which manages users and rules.
 *
 * @param url the URL of the control plane
 * @param tokenFile the file of the runtime's API key; read again at each poll
 * @param ca further authorities for its certificate; null: only the public ones
 * @param publicUrl the URL at which it reaches this App-Proxy; null: none
 * @param ttl the lifetime of a positive answer
 * @param deniedTtl the lifetime of a refusal
 * @param poll the interval between polls for changes
 * @param timeout the limit for one answer
 * @param maxAnswers the maximum number of cached tokens, and of cached decisions
 * @param runtimeTokensOnly whether users' API keys are refused without a call to the control plane
 */
public record ControlPlaneSettings(
        @Setting(value = "The control plane that knows users and rules", accepts = "http(s)://host:port") URI url,
        @Setting("File with the runtime's API key of the control plane; read again every few seconds") Path tokenFile,
        @Setting("PEM file of authorities that are trusted for the control plane beside the public ones") @Nullable Path ca,
        @Setting(value = "Where the control plane reaches this App-Proxy, to say at once that something changed: the runtime's URL; its nudge.allow must cover it", accepts = "as https://acme-prod.tunnels.example.com") @Nullable URI publicUrl,
        @Setting(value = "How long a token or permission holds without asking again, so also how long they serve while the control plane is away", byDefault = "60s", accepts = "1s..1h") Duration ttl,
        @Setting(value = "How long an unknown token or a refusal holds", byDefault = "5s", accepts = "100ms..ttl") Duration deniedTtl,
        @Setting(value = "How often changes are looked for; they come at once where publicUrl is set", byDefault = "4s", accepts = "100ms..10m") Duration poll,
        @Setting(value = "How long the control plane may take for an answer", byDefault = "3s", accepts = "100ms..30s") Duration timeout,
        @Setting(value = "Tokens, and decisions, that are remembered; about 500 bytes each", byDefault = "10000", accepts = "100..1000000") int maxAnswers,
        @Setting(value = "Whether callers must bring a token that the control plane issued for this runtime (POST /api/runtime-tokens); their API keys are then refused", byDefault = "false") boolean runtimeTokensOnly) {

    private static final Duration SHORTEST = Duration.ofMillis(100);

    public ControlPlaneSettings {
        if (!"http".equals(url.getScheme()) && !"https".equals(url.getScheme())) {
            throw new ConfigException("url", "http://host:port or https://host:port");
        }
        require("ttl", ttl, Duration.ofSeconds(1), Duration.ofHours(1));
        require("deniedTtl", deniedTtl, SHORTEST, ttl);
        require("poll", poll, SHORTEST, Duration.ofMinutes(10));
        require("timeout", timeout, SHORTEST, Duration.ofSeconds(30));
        if (maxAnswers < 100 || maxAnswers > 1_000_000) {
            throw new ConfigException("maxAnswers", "100..1000000; remove the key for the default 10000");
        }
    }

    /** Settings with the defaults. */
    public static ControlPlaneSettings of(URI url, Path tokenFile, @Nullable URI publicUrl) {
        return new ControlPlaneSettings(url, tokenFile, null, publicUrl, Duration.ofSeconds(60),
                Duration.ofSeconds(5),
                Duration.ofSeconds(4), Duration.ofSeconds(3), 10_000, false);
    }

    private static void require(String key, Duration value, Duration least, Duration most) {
        if (value.compareTo(least) < 0 || value.compareTo(most) > 0) {
            throw new ConfigException(key,
                    least.toMillis() + "ms.." + most.toMillis() + "ms; remove the key for the default");
        }
    }
}
