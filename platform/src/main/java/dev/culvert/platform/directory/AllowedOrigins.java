package dev.culvert.platform.directory;

import java.net.URI;
import java.net.URISyntaxException;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Where the control plane may call out to: a runtime names its URL itself, and must not name somebody else's. */
record AllowedOrigins(List<String> allowed) {
    AllowedOrigins {
        allowed = List.copyOf(allowed);
    }

    /** Scheme, host and port of a URL; null when it may not be called. */
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
        String port = uri.getPort() < 0 ? "" : ":" + uri.getPort();
        return allowed.stream().anyMatch(pattern -> covers(pattern, scheme, host))
                ? scheme + "://" + host + port
                : null;
    }

    private static boolean covers(String pattern, String scheme, String host) {
        String start = scheme + "://";
        if (!pattern.startsWith(start)) {
            return false;
        }
        String wanted = pattern.substring(start.length());
        return wanted.startsWith("*.")
                ? host.endsWith(wanted.substring(1)) && host.length() > wanted.length() - 1
                : host.equals(wanted);
    }
}
