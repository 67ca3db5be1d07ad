package dev.culvert.routing;

import dev.culvert.relay.upstream.UpstreamAddress;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.util.AsciiString;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Exchanges the caller's host and the one that the upstream sees, where the latter differs (hostHeader), in
 * each field that names one of the two: docs/routing.md has the table. Without this, a development server
 * refuses the public host, and sends browsers to its own. An origin is exchanged only if it is that of its
 * side, as a whole: scheme, host and port. Fields that can't be read stay as they are. Immutable.
 */
final class HostExchange {
    private static final AsciiString ORIGIN = AsciiString.cached("origin");
    private static final AsciiString REFERER = AsciiString.cached("referer");
    private static final AsciiString FORWARDED_HOST = AsciiString.cached("x-forwarded-host");
    private static final AsciiString FORWARDED_PROTO = AsciiString.cached("x-forwarded-proto");
    private static final AsciiString SET_COOKIE = AsciiString.cached("set-cookie");
    private static final AsciiString ALLOW_ORIGIN = AsciiString.cached("access-control-allow-origin");
    private static final List<AsciiString> LOCATIONS = List.of(AsciiString.cached("location"),
            AsciiString.cached("content-location"));

    private static final Set<String> LOOPBACK = Set.of("localhost", "127.0.0.1", "[::1]");

    private final String hostHeader;
    private final UrlOrigin own;
    private final UrlOrigin dialled;

    private HostExchange(String hostHeader, UrlOrigin own, UrlOrigin dialled) {
        this.hostHeader = hostHeader;
        this.own = own;
        this.dialled = dialled;
    }

    /**
     * @param hostHeader the Host that the upstream sees; {@link RouteConfig#REWRITE}: that of its URL
     */
    static HostExchange of(UpstreamAddress upstream, String hostHeader) {
        String scheme = upstream.tls() ? "https" : "http";
        UrlOrigin dialled = new UrlOrigin(scheme, bracketed(upstream.host()), upstream.port());
        String host = hostHeader.equals(RouteConfig.REWRITE) ? dialled.authority() : hostHeader;
        UrlOrigin own = UrlOrigin.of(scheme, host);
        return new HostExchange(host, own == null ? dialled : own, dialled);
    }

    private static String bracketed(String host) {
        return host.indexOf(':') >= 0 ? "[" + host + "]" : host;
    }

    /** The Host that the upstream sees. */
    String hostHeader() {
        return hostHeader;
    }

    /**
     * Exchanges the fields of a request, in place.
     *
     * @return the caller's origin, for the response; null: the request names none, so nothing is exchanged
     */
    @Nullable
    UrlOrigin request(Http2Headers fields) {
        CharSequence forwarded = fields.get(FORWARDED_HOST);
        CharSequence host = forwarded == null ? fields.authority() : forwarded;
        CharSequence proto = fields.get(FORWARDED_PROTO);
        UrlOrigin outer = host == null
                ? null
                : UrlOrigin.of(proto == null ? "https" : proto.toString().toLowerCase(Locale.ROOT),
                        host.toString());
        if (outer != null) {
            exchange(fields, ORIGIN, outer);
            exchange(fields, REFERER, outer);
        }
        return outer;
    }

    private void exchange(Http2Headers fields, AsciiString name, UrlOrigin outer) {
        List<CharSequence> values = fields.getAll(name);
        if (values.size() == 1) {
            String changed = replaced(values.getFirst().toString(), outer, own);
            if (changed != null) {
                fields.set(name, changed);
            }
        }
    }

    /** Exchanges the fields of a response's head, in place. */
    void response(Http2Headers head, UrlOrigin outer) {
        for (AsciiString name : LOCATIONS) {
            back(head, name, outer);
        }
        back(head, ALLOW_ORIGIN, outer);
        cookies(head, outer);
    }

    private void back(Http2Headers head, AsciiString name, UrlOrigin outer) {
        List<CharSequence> values = head.getAll(name);
        if (values.size() != 1) {
            return;
        }
        String url = values.getFirst().toString();
        UrlOrigin named = UrlOrigin.before(url, own.scheme());
        if (named != null && isOwn(named)) {
            head.set(name, outer.inFrontOf(url));
        }
    }

    /** Whether an origin leads to the upstream: by the host that it sees, or the one that is dialled. */
    private boolean isOwn(UrlOrigin named) {
        return named.equals(own) || named.equals(dialled)
                || (named.port() == dialled.port() && isLoopback(named) && isLoopback(dialled)
                        && named.scheme().equals(dialled.scheme()));
    }

    private static boolean isLoopback(UrlOrigin origin) {
        return LOOPBACK.contains(origin.host());
    }

    private static @Nullable String replaced(String url, UrlOrigin from, UrlOrigin to) {
        return from.equals(UrlOrigin.before(url, from.scheme())) ? to.inFrontOf(url) : null;
    }

    /** Browsers refuse a cookie for the upstream's own domain: it becomes one of the public host. */
    private void cookies(Http2Headers head, UrlOrigin outer) {
        List<CharSequence> all = head.getAll(SET_COOKIE);
        if (all.isEmpty()) {
            return;
        }
        var changed = new ArrayList<CharSequence>(all.size());
        boolean some = false;
        for (CharSequence cookie : all) {
            CharSequence without = withoutOwnDomain(cookie, outer);
            some |= without.length() < cookie.length();
            changed.add(without);
        }
        if (some) {
            head.set(SET_COOKIE, changed);
        }
    }

    private CharSequence withoutOwnDomain(CharSequence cookie, UrlOrigin outer) {
        if (AsciiString.indexOfIgnoreCase(cookie, "domain", 0) < 0) {
            return cookie;
        }
        var kept = new ArrayList<String>();
        boolean some = false;
        for (String part : cookie.toString().split(";", -1)) {
            int equals = part.indexOf('=');
            boolean domain = !kept.isEmpty() && equals > 0
                    && part.substring(0, equals).strip().equalsIgnoreCase("domain");
            if (domain && isOwnDomain(part.substring(equals + 1).strip(), outer)) {
                some = true;
            } else {
                kept.add(part);
            }
        }
        return some ? String.join(";", kept) : cookie;
    }

    /** Whether browsers take a domain from the upstream's own host, and not from the public one. */
    private boolean isOwnDomain(String value, UrlOrigin outer) {
        String domain = (value.startsWith(".") ? value.substring(1) : value).toLowerCase(Locale.ROOT);
        return !domain.isEmpty() && !isWithin(outer.host(), domain)
                && (isWithin(own.host(), domain) || dialled.host().equals(domain));
    }

    private static boolean isWithin(String host, String domain) {
        return host.equals(domain) || host.endsWith("." + domain);
    }
}
