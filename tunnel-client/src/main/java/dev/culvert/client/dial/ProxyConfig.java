package dev.culvert.client.dial;

import dev.culvert.config.ConfigException;
import dev.culvert.config.Setting;
import java.net.URI;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The outbound proxy of a client, {@code proxy:} in its file. It overrides {@code HTTPS_PROXY} and, unlike
 * that variable, also applies to loopback addresses.
 *
 * @param url the URL with scheme {@code http} (CONNECT) or {@code socks5}; may contain the user, never the
 *     password
 * @param passwordFile the file of the password, read at each dial; null: no password
 * @param noProxy the servers that are reached directly, see {@link NoProxy}
 */
public record ProxyConfig(
        @Setting(value = "Outbound proxy of every connection to the server; overrides HTTPS_PROXY and NO_PROXY. The proxy resolves the server's name", accepts = "http://user@host:port or socks5://user@host:port, without a password") URI url,
        @Setting("File of the proxy user's password, read at each dial") @Nullable Path passwordFile,
        @Setting(value = "Servers that are reached without the proxy: names including all names below them, .names for only those below, addresses, blocks as 10.0.0.0/8, each with a port if wanted; * for all") List<String> noProxy) {

    public ProxyConfig {
        if (!Set.of("http", "socks5", "socks5h").contains(url.getScheme()) || url.getHost() == null
                || (url.getRawUserInfo() != null && url.getRawUserInfo().contains(":"))
                || !(url.getRawPath().isEmpty() || url.getRawPath().equals("/"))) {
            throw new ConfigException("url",
                    "http://user@host:port or socks5://user@host:port; the password stands in proxy.passwordFile");
        }
        if (passwordFile != null && url.getRawUserInfo() == null) {
            throw new ConfigException("passwordFile", "a user in proxy.url, as http://user@host:port");
        }
        noProxy = List.copyOf(noProxy);
        NoProxy.of("noProxy", noProxy);
    }
}
