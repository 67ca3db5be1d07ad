package dev.culvert.client.dial;

import dev.culvert.certs.CertsException;
import dev.culvert.config.ConfigException;
import dev.culvert.config.HostPort;
import dev.culvert.config.Reason;
import io.netty.handler.proxy.HttpProxyHandler;
import io.netty.handler.proxy.ProxyHandler;
import io.netty.handler.proxy.Socks5ProxyHandler;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/**
 * A proxy between a client and its server. {@code toString} omits user and password.
 *
 * @param address the address of the proxy
 * @param setBy the configuration key or variable that sets the proxy, for people
 * @param user the user, or null
 * @param password the password from the environment; null if there is none or it is in the file
 * @param passwordFile the file of the password, read at each dial, so that a new password needs no restart
 */
public record OutboundProxy(Kind kind, HostPort address, String setBy, @Nullable String user,
        @Nullable String password,
        @Nullable Path passwordFile) {
    private static final int HTTP_PORT = 80;
    private static final int SOCKS_PORT = 1080;
    /** The maximum size of the file. A password has a few dozen characters. */
    private static final int MAX_PASSWORD_BYTES = 1024;

    /** The protocol of the proxy. */
    enum Kind {
        HTTP, SOCKS5
    }

    static OutboundProxy of(ProxyConfig config) {
        return of(config.url(), "proxy.url", null, config.passwordFile());
    }

    /**
     * Parses {@code HTTPS_PROXY}, whose scheme may be absent. Throws ConfigException, which does not contain
     * the value.
     */
    static OutboundProxy of(String variable, String value) {
        try {
            URI url = new URI(value.contains("://") ? value : "http://" + value);
            String info = url.getRawUserInfo();
            String password = info == null || info.indexOf(':') < 0
                    ? null
                    : decoded(info.substring(info.indexOf(':') + 1));
            return of(url, variable, password, null);
        } catch (URISyntaxException | IllegalArgumentException e) {
            throw wrong(variable);
        }
    }

    private static OutboundProxy of(URI url, String setBy, @Nullable String password,
            @Nullable Path passwordFile) {
        Kind kind = switch (Objects.toString(url.getScheme(), "").toLowerCase(Locale.ROOT)) {
            case "http" -> Kind.HTTP;
            case "socks5", "socks5h" -> Kind.SOCKS5;
            default -> throw wrong(setBy);
        };
        String host = url.getHost();
        if (host == null || url.getPort() > 65535) {
            throw wrong(setBy);
        }
        int port = url.getPort() > 0 ? url.getPort() : kind == Kind.HTTP ? HTTP_PORT : SOCKS_PORT;
        String info = url.getRawUserInfo();
        String user = info == null ? null : decoded(info.split(":", 2)[0]);
        return new OutboundProxy(kind, new HostPort(Connector.bare(host), port), setBy, user, password,
                passwordFile);
    }

    private static @Nullable String decoded(String part) {
        return part.isEmpty() ? "" : URI.create("http://" + part + "@host").getUserInfo();
    }

    private static ConfigException wrong(String key) {
        return new ConfigException(key, "http://user:password@host:port or socks5://…");
    }

    /**
     * Creates the handler that tunnels a connection through this proxy at {@code resolved}. Reads the file of
     * the password. Emits off the event loops. Errors: {@link CertsException} that names the file.
     */
    Mono<ProxyHandler> handler(InetSocketAddress resolved) {
        return Mono.fromCallable(() -> handler(resolved, secret())).subscribeOn(Schedulers.boundedElastic());
    }

    private ProxyHandler handler(InetSocketAddress resolved, String secret) {
        return switch (kind) {
            case HTTP -> user == null
                    ? new HttpProxyHandler(resolved)
                    : new HttpProxyHandler(resolved, user, secret);
            case SOCKS5 -> user == null
                    ? new Socks5ProxyHandler(resolved)
                    : new Socks5ProxyHandler(resolved, user, secret);
        };
    }

    private String secret() {
        Path file = passwordFile;
        if (file == null) {
            return Objects.requireNonNullElse(password, "");
        }
        try {
            if (Files.size(file) > MAX_PASSWORD_BYTES) {
                throw new CertsException(
                        "proxy.passwordFile: " + file + " has more than " + MAX_PASSWORD_BYTES
                                + " bytes (expected: a password)");
            }
            return Files.readString(file).strip();
        } catch (IOException e) {
            throw new CertsException("proxy.passwordFile: " + file + " can't be read: " + Reason.of(e), e);
        }
    }

    /** The URL of the proxy without the user. */
    String url() {
        return kind.name().toLowerCase(Locale.ROOT) + "://" + address;
    }

    @Override
    public String toString() {
        return url() + " (" + setBy + ")";
    }
}
