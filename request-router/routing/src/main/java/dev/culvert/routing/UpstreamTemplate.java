package dev.culvert.routing;

import dev.culvert.config.ConfigException;
import dev.culvert.config.UriHost;
import dev.culvert.http.path.HostTemplate;
import dev.culvert.http.path.PathPattern;
import dev.culvert.http.path.RawPath;
import dev.culvert.relay.upstream.UpstreamAddress;
import java.net.URI;
import java.net.URISyntaxException;
import java.util.Locale;
import java.util.regex.Pattern;

/**
 * The URL of an upstream, whose host may contain variables.
 *
 * @param http2 whether the upstream always gets HTTP/2 without TLS ({@code h2c://})
 * @param host in lower case, except its variables
 * @param prefix prepended to the request's path; empty, or a raw path without a slash at its end
 */
record UpstreamTemplate(boolean tls, boolean http2, HostTemplate host, int port, String prefix) {
    private static final String EXPECTED = "http://, https:// or h2c://host[:port], with or without a path, "
            + "without user, query or fragment; variables of path, as {namespace}, in the host alone";
    private static final Pattern VARIABLE = Pattern.compile("\\{[a-zA-Z][a-zA-Z0-9]{0,31}}");

    /** Parses a URL. Throws ConfigException for the key {@code to}. */
    static UpstreamTemplate parse(String to) {
        try {
            // a letter replaces each variable, so that the URL can be parsed
            String plain = VARIABLE.matcher(to).replaceAll("v0");
            UpstreamTemplate parsed = of(new URI(plain));
            return plain.equals(to)
                    ? parsed
                    : new UpstreamTemplate(parsed.tls, parsed.http2, host(to), parsed.port, parsed.prefix);
        } catch (URISyntaxException e) {
            throw new ConfigException("to", EXPECTED + UriHost.fault(to));
        }
    }

    /** Creates the template of a URL without variables. Throws ConfigException for the key {@code to}. */
    static UpstreamTemplate of(URI to) {
        String scheme = to.getScheme() == null ? "" : to.getScheme().toLowerCase(Locale.ROOT);
        UriHost host = UriHost.of(to);
        int given = host == null ? -1 : host.port();
        String path = to.getRawPath() == null ? "" : to.getRawPath();
        boolean tls = scheme.equals("https");
        boolean http2 = scheme.equals("h2c");
        int port = given < 0 ? (tls ? 443 : 80) : given;
        if (host == null || (!tls && !http2 && !scheme.equals("http")) || port < 1 || port > 65535
                || to.getRawUserInfo() != null
                || to.getRawQuery() != null || to.getRawFragment() != null || !RawPath.wellFormed(path)
                || !(host.isLiteral() || UriHost.isName(host.name()))) {
            throw new ConfigException("to", EXPECTED + UriHost.fault(to.toString()));
        }
        String prefix = path.endsWith("/") ? path.substring(0, path.length() - 1) : path;
        return new UpstreamTemplate(tls, http2,
                HostTemplate.of(host.bare()), port, prefix);
    }

    /** Parses the host with its variables. Refuses variables in other parts of the URL. */
    private static HostTemplate host(String to) {
        int begin = to.indexOf("://") + 3;
        int end = begin;
        while (end < to.length() && "/:".indexOf(to.charAt(end)) < 0) {
            end++;
        }
        if (to.indexOf('{', end) >= 0 || to.substring(0, begin).indexOf('{') >= 0) {
            throw new ConfigException("to", EXPECTED);
        }
        return HostTemplate.of(to.substring(begin, end));
    }

    /** Throws ConfigException if a variable does not occur in the path. */
    void requireVariablesOf(PathPattern path) {
        if (!path.variables().containsAll(host.variables())) {
            throw new ConfigException("to", "no variables but those of path, as {namespace}");
        }
    }

    /** The address of an upstream without variables. */
    UpstreamAddress address() {
        return address(host.toString());
    }

    /** The address with a host whose variables are substituted. */
    UpstreamAddress address(String filled) {
        return new UpstreamAddress(tls, http2, filled, port, null, !host.variables().isEmpty());
    }
}
