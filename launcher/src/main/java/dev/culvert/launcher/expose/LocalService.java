package dev.culvert.launcher.expose;

import dev.culvert.config.UriHost;
import dev.culvert.http.net.AddressOrder;
import dev.culvert.launcher.run.CommandException;
import dev.culvert.launcher.run.ExitCode;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.Objects;

/**
 * The service that a user exposes.
 *
 * @param url {@code http://host:port}, or with {@code https} or {@code h2c}
 */
record LocalService(URI url) {
    private static final int MAX_PORT = 65_535;
    private static final Duration LOOK = Duration.ofMillis(500);
    private static final String EXPECTED = " (expected: a port from 1 to 65535, as 3000; host:port; or http://host:port,"
            + " https://host:port, h2c://host:port)";

    /** Reads {@code 3000}, {@code host:port} or a URL. */
    static LocalService parse(String text) {
        String full = text.contains("://") ? text : "http://" + (isNumber(text) ? "localhost:" + text : text);
        try {
            URI url = new URI(full);
            UriHost host = UriHost.of(url);
            boolean plain = host != null && url.getRawUserInfo() == null && url.getRawQuery() == null
                    && url.getRawFragment() == null && isRoot(url.getRawPath());
            boolean known = switch (url.getScheme()) {
                case "http", "https", "h2c" -> true;
                default -> false;
            };
            if (host != null && plain && known && host.port() != 0 && host.port() <= MAX_PORT
                    && (text.contains("://") || host.port() > 0)) {
                return new LocalService(url);
            }
        } catch (URISyntaxException e) {
            // told below
        }
        throw new CommandException(ExitCode.USAGE,
                "'" + text + "' is no service" + EXPECTED + UriHost.fault(full));
    }

    private static boolean isNumber(String text) {
        return text.matches("-?\\d+");
    }

    private static boolean isRoot(String path) {
        return path.isEmpty() || path.equals("/");
    }

    /** Whether something listens there now. Blocks for at most half a second for each address. */
    boolean listens() {
        UriHost host = Objects.requireNonNull(UriHost.of(url));
        int port = host.port() >= 0 ? host.port() : url.getScheme().equals("https") ? 443 : 80;
        try {
            for (InetAddress address : AddressOrder.all(host.bare())) {
                if (listens(new InetSocketAddress(address, port))) {
                    return true;
                }
            }
        } catch (UnknownHostException e) {
            return false;
        }
        return false;
    }

    private static boolean listens(InetSocketAddress address) {
        try (var socket = new Socket()) {
            socket.connect(address, (int) LOOK.toMillis());
            return true;
        } catch (IOException e) {
            return false;
        }
    }
}
