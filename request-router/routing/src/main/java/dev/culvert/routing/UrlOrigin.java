package dev.culvert.routing;

import dev.culvert.config.UriHost;
import java.net.URI;
import java.net.URISyntaxException;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * The origin of a URL (RFC 6454 §4).
 *
 * @param scheme {@code http} or {@code https}
 * @param host in lower case; an IPv6 address with its brackets
 * @param port never below 1: the scheme's default is written out
 */
record UrlOrigin(String scheme, String host, int port) {
    private static final int HTTP_PORT = 80;
    private static final int HTTPS_PORT = 443;

    /** Returns the origin of a scheme and an authority; null if one of them is not valid. */
    static @Nullable UrlOrigin of(String scheme, String authority) {
        int usual = scheme.equals("https") ? HTTPS_PORT : scheme.equals("http") ? HTTP_PORT : -1;
        if (usual < 0 || authority.isEmpty() || authority.indexOf('@') >= 0) {
            return null;
        }
        try {
            URI uri = new URI(scheme + "://" + authority);
            UriHost host = UriHost.of(uri);
            boolean whole = host != null && authority.equals(uri.getRawAuthority());
            return !whole || host == null || host.port() == 0
                    ? null
                    : new UrlOrigin(scheme, host.name(), host.port() < 0 ? usual : host.port());
        } catch (URISyntaxException e) {
            return null;
        }
    }

    /**
     * Returns the origin that an absolute URL begins with; null if it is relative, or of another kind.
     *
     * @param usual the scheme of a URL that begins with {@code //}
     */
    static @Nullable UrlOrigin before(String url, String usual) {
        int slashes = url.indexOf("//");
        boolean absolute = slashes > 1 && url.charAt(slashes - 1) == ':';
        if (slashes != 0 && !absolute) {
            return null;
        }
        String scheme = slashes == 0 ? usual : url.substring(0, slashes - 1).toLowerCase(Locale.ROOT);
        return of(scheme, url.substring(slashes + 2, end(url, slashes + 2)));
    }

    private static int end(String url, int from) {
        int at = from;
        while (at < url.length() && "/?#\\".indexOf(url.charAt(at)) < 0) {
            at++;
        }
        return at;
    }

    /** The host, with the port unless it is the scheme's default. */
    String authority() {
        boolean usual = port == (scheme.equals("https") ? HTTPS_PORT : HTTP_PORT);
        return usual ? host : host + ":" + port;
    }

    /** Returns a URL that {@link #before} could read, with this origin in place of its own. */
    String inFrontOf(String url) {
        int slashes = url.indexOf("//");
        String rest = url.substring(end(url, slashes + 2));
        return (slashes == 0 ? "//" : scheme + "://") + authority() + rest;
    }
}
