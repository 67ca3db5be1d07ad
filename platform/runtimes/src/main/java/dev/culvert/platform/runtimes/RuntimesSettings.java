package dev.culvert.platform.runtimes;

import dev.culvert.config.ConfigException;
import dev.culvert.config.Setting;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * {@code handlers.runtimes} in control-plane.yaml.
 *
 * @param server the tunnel server's admin API
 * @param tokenFile the file of the registrar's token for it
 * @param ca authorities of that API's certificate
 * @param authority the certificate of the authority that clients of the tunnel server believe
 * @param domain the tunnel server's {@code edge.domain}, with a port if it is not 443
 * @param enrolmentLife the time within which a runtime's client must enrol
 * @param hosted the upstream of hosted runtimes
 */
record RuntimesSettings(
        @Setting(value = "URL of the tunnel server's admin API; left out: no runtime can have a tunnel", accepts = "scheme, host and port, as https://tunnels.internal:9090") @Nullable String server,
        @Setting("File of an admin token of the role registrar; read at each call") @Nullable Path tokenFile,
        @Setting("PEM file of authorities that are trusted beside the public ones, for that API") @Nullable Path ca,
        @Setting("PEM file of the tunnel server's authority (ca.crt in its dataDir), which tokens pin; read at the start") @Nullable Path authority,
        @Setting(value = "Domain of the runtimes' hosts, edge.domain of the tunnel server", accepts = "a host, with a port unless it is 443") @Nullable String domain,
        @Setting(value = "How long a runtime's token enrols a client", byDefault = "24h", accepts = "1m to 720h") Duration enrolmentLife,
        @Setting(value = "Upstream of hosted runtimes, as the tunnel server reaches it; left out: none can be hosted", accepts = "a URL in which {account} and {name} stand for the runtime's") @Nullable String hosted) {
    private static final Duration SHORTEST = Duration.ofMinutes(1);
    /** What the tunnel server accepts. */
    private static final Duration LONGEST = Duration.ofDays(30);

    RuntimesSettings {
        requireLife(enrolmentLife);
        if (server != null) {
            requireOrigin("server", server);
            if (tokenFile == null || authority == null || domain == null) {
                throw new ConfigException(
                        tokenFile == null ? "tokenFile" : authority == null ? "authority" : "domain",
                        "given, because server is");
            }
        } else if (authority != null || domain != null || hosted != null) {
            throw new ConfigException(authority != null ? "authority" : domain != null ? "domain" : "hosted",
                    "left out, because server is");
        }
    }

    private static void requireLife(Duration life) {
        if (life.compareTo(SHORTEST) < 0 || life.compareTo(LONGEST) > 0) {
            throw new ConfigException("enrolmentLife", "1m to 720h");
        }
    }

    private static void requireOrigin(String key, String text) {
        try {
            URI url = new URI(text);
            if (url.getHost() != null && url.getRawQuery() == null && url.getRawUserInfo() == null
                    && ("https".equals(url.getScheme()) || "http".equals(url.getScheme()))) {
                return;
            }
        } catch (URISyntaxException e) {
            // reported below
        }
        throw new ConfigException(key, "a URL as https://tunnels.internal:9090");
    }

    /** The public URL of a runtime with a tunnel. */
    String publicUrl(String account, String name) {
        return "https://" + account + "-" + name + "." + domain;
    }

    /** The upstream of a hosted runtime, or null when none can be hosted. */
    @Nullable
    String upstream(String account, String name) {
        return hosted == null ? null : hosted.replace("{account}", account).replace("{name}", name);
    }
}
