package dev.culvert.platform.host;

import dev.culvert.certs.CertificateFiles;
import dev.culvert.config.ConfigException;
import dev.culvert.config.ConfigSection;
import dev.culvert.config.HostPort;
import dev.culvert.config.Setting;
import dev.culvert.handlers.host.LimitSettings;
import dev.culvert.http.net.Cidr;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * control-plane.yaml.
 *
 * @param listen the address of the listener
 * @param tls the listener's certificate; null: plain HTTP
 * @param dataDir folder of its database and of its audit log
 * @param store where its data is kept
 * @param adminKeyFile the file for the first administrator's key
 * @param firstAccount the name of the first account of an empty database
 * @param tokenKeys what wraps the keys of runtime tokens
 * @param platform what kind of platform this is
 * @param nudge the runtimes that are notified of changes at once
 * @param handlers the settings of modules, by name
 * @param limits the limits of single modules, where they differ from the module's own
 * @param trustedProxies networks whose {@code X-Forwarded-For} is trusted to name the source address of a
 *        request
 */
public record ControlPlaneConfig(
        @Setting(value = "Address of the HTTP listener; port 0 picks a free one", byDefault = "127.0.0.1:3030") HostPort listen,
        @Nullable Tls tls,
        @Setting("Folder of the database and the audit log; made when absent") Path dataDir,
        StoreSettings store,
        @Setting("File for the API key of the first administrator, made with mode 0600 when the database is empty; left out: admin.key in dataDir") @Nullable Path adminKeyFile,
        @Setting(value = "Name of the account that an empty database begins with", byDefault = "main") String firstAccount,
        TokenKeys tokenKeys,
        Platform platform,
        Nudge nudge,
        @Setting(value = "Settings of modules, by the module's name: what each accepts is in its own documentation", fileOnly = true) Map<String, ConfigSection> handlers,
        @Setting("What a module may use, by its name; left out: what the module asks for") Map<String, LimitSettings> limits,
        @Setting(value = "Networks of ingress controllers and balancers before it: the last address of X-Forwarded-For that is in none of them has its share of the API keys that are looked up", byDefault = PRIVATE_NETWORKS, accepts = "addresses or CIDR blocks, as 10.0.0.0/8,::1") List<String> trustedProxies) {
    private static final String PRIVATE_NETWORKS = "127.0.0.0/8,::1,10.0.0.0/8,172.16.0.0/12,192.168.0.0/16,100.64.0.0/10,fc00::/7";

    public ControlPlaneConfig {
        trustedProxies = List.copyOf(trustedProxies);
        try {
            trustedProxies.forEach(Cidr::parse);
        } catch (IllegalArgumentException e) {
            throw new ConfigException("trustedProxies", "addresses or CIDR blocks, as 10.0.0.0/8,::1");
        }
    }

    /** Makes a configuration with defaults and a folder. */
    public static ControlPlaneConfig of(HostPort listen, Path dataDir, Nudge nudge) {
        return of(listen, dataDir, StoreSettings.sqlite(), nudge);
    }

    /** As above, with another store. */
    public static ControlPlaneConfig of(HostPort listen, Path dataDir, StoreSettings store, Nudge nudge) {
        return new ControlPlaneConfig(listen, null, dataDir, store, null, "main", new TokenKeys(null),
                new Platform(false), nudge,
                Map.of(), Map.of(), List.of(PRIVATE_NETWORKS.split(",")));
    }

    /** The file for the first administrator's key. */
    public Path adminKey() {
        return adminKeyFile == null ? dataDir.resolve("admin.key") : adminKeyFile;
    }

    /** The file with the keys that wrap those of runtime tokens, and secrets of modules. */
    public Path tokenKeyFile() {
        Path file = tokenKeys.file();
        return file == null ? dataDir.resolve("token.key") : file;
    }

    /**
     * What wraps the keys of runtime tokens in the database.
     *
     * @param file the file of the keys that wrap; null: {@code token.key} in {@code dataDir}
     */
    public record TokenKeys(
            @Setting("File of the keys that wrap those of runtime tokens and the secrets of runtimes in the database: one a line, 32 bytes in base64, the first wraps and all unwrap; mode 0600, made at the first start, in no backup; left out: token.key in dataDir") @Nullable Path file) {}

    /**
     * The kind of platform.
     *
     * @param onPremises whether it is a customer's own, which has no tunnels
     */
    public record Platform(
            @Setting(value = "Whether this platform is installed on a customer's premises: its runtimes are reached through their ingress, and one with a tunnel is refused", byDefault = "false") boolean onPremises) {}

    /**
     * The listener's certificate.
     *
     * @param certificate PEM chain, leaf first
     * @param key PEM private key
     */
    public record Tls(
            @Setting("PEM file of the listener's certificate chain, leaf first; read at the start") Path certificate,
            @Setting("PEM file of its private key") Path key) {
        CertificateFiles files() {
            return new CertificateFiles(certificate, key);
        }
    }

    /**
     * The App-Proxies that the control plane may notify of changes, through edge and tunnel.
     *
     * @param allow the allowed origins of runtimes
     * @param ca further authorities for the certificate of their edge
     */
    public record Nudge(
            @Setting(value = "Where App-Proxies may register to be told of changes at once; empty: nowhere, they look every few seconds", accepts = "origins as https://*.tunnels.example.com, https://*.tunnels.example.com:8443 or http://127.0.0.1:*; without a port: 443 or 80", byDefault = "") List<String> allow,
            @Setting("PEM file of authorities that are trusted beside the public ones, for the edge of the runtimes") @Nullable Path ca) {
        private static final Pattern ORIGIN = Pattern
                .compile("https?://(\\*\\.)?[a-z0-9]([a-z0-9.-]*[a-z0-9])?(:(\\*|[1-9][0-9]{0,4}))?");

        public Nudge {
            allow = List.copyOf(allow);
            if (!allow.stream().allMatch(origin -> ORIGIN.matcher(origin).matches())) {
                throw new ConfigException("allow",
                        "origins without a path, as https://*.tunnels.example.com, https://*.tunnels.example.com:8443 or http://127.0.0.1:*");
            }
        }

        /** Notifies no runtimes. */
        public static Nudge none() {
            return new Nudge(List.of(), null);
        }
    }
}
