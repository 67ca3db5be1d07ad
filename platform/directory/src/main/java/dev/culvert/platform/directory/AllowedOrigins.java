package dev.culvert.platform.directory;

import java.net.URI;
import java.net.URISyntaxException;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * The origins that the control plane may call. A runtime registers its own URL, and must not register another
 * server's.
 */
record AllowedOrigins(List<String> allowed) {
    AllowedOrigins {
        allowed = List.copyOf(allowed);
    }

    /** Scheme, host and port of a URL; null when the URL is not allowed. */
    @Nullable
    String origin(String url) {
        URI uri;
        try {
            uri = new URI(url);
        } catch (URISyntaxException e) {
            return null;
        }
        String path = uri.getRawPath();
        if (uri.getScheme() == null || uri.getHost() == null || uri.getRawUserInfo() != null
                || uri.getRawQuery() != null || uri.getRawFragment() != null
                || !(path == null || path.isEmpty() || path.equals("/"))) {
            return null;
        }
        String scheme = uri.getScheme().toLowerCase(Locale.ROOT);
        String host = uri.getHost().toLowerCase(Locale.ROOT);
        int port = uri.getPort() < 0 ? usualPort(scheme) : uri.getPort();
        return allowed.stream().anyMatch(pattern -> covers(pattern, scheme, host, port))
                ? scheme + "://" + host + (uri.getPort() < 0 ? "" : ":" + port)
                : null;
    }

    /**
     * An entry without a port allows only the default port, so a runtime can't direct calls to other services
     * of the host.
     */
    private static boolean covers(String pattern, String scheme, String host, int port) {
        String start = scheme + "://";
        if (!pattern.startsWith(start)) {
            return false;
        }
        String authority = pattern.substring(start.length());
        int colon = authority.indexOf(':');
        String wanted = colon < 0 ? authority : authority.substring(0, colon);
        String wantedPort = colon < 0 ? String.valueOf(usualPort(scheme)) : authority.substring(colon + 1);
        return (wantedPort.equals("*") || wantedPort.equals(String.valueOf(port)))
                && coversHost(wanted, host);
    }

    private static int usualPort(String scheme) {
        return scheme.equals("https") ? 443 : 80;
    }

    private static boolean coversHost(String wanted, String host) {
        return wanted.startsWith("*.")
                ? host.endsWith(wanted.substring(1)) && host.length() > wanted.length() - 1
                : host.equals(wanted);
    }
}
