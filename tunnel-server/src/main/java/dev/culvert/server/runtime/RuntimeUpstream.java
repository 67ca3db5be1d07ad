package dev.culvert.server.runtime;

import dev.culvert.relay.upstream.UpstreamAddress;
import java.net.URI;
import java.net.URISyntaxException;
import org.jspecify.annotations.Nullable;

/**
 * The server to which the requests for a hosted runtime go. A hosted runtime runs beside the platform, and
 * has this in place of a tunnel.
 *
 * @param url its URL, as {@link UpstreamAddress#ACCEPTED} says
 * @param ca the authorities that may sign its certificate, as PEM; null: the public ones
 */
public record RuntimeUpstream(URI url, @Nullable String ca) {
    private static final int MAX_URL = 1024;

    /** Throws InvalidNameException for an invalid URL, and for authorities of an upstream without TLS. */
    public RuntimeUpstream {
        if (!address(url).tls() && ca != null) {
            throw new InvalidNameException("ca", "given for " + url + " (expected: none without https://)");
        }
    }

    /** Parses a URL. Throws InvalidNameException as the constructor does. */
    public static RuntimeUpstream of(String url, @Nullable String ca) {
        try {
            return new RuntimeUpstream(new URI(url.length() > MAX_URL ? "" : url), ca);
        } catch (URISyntaxException e) {
            throw invalid(url);
        }
    }

    /** Its address, without the authorities. */
    public UpstreamAddress address() {
        return address(url);
    }

    private static UpstreamAddress address(URI url) {
        try {
            return UpstreamAddress.of(url);
        } catch (IllegalArgumentException e) {
            throw invalid(url.toString());
        }
    }

    private static InvalidNameException invalid(String url) {
        String shown = url.length() > 80 ? url.substring(0, 80) + "…" : url;
        return new InvalidNameException("upstream",
                "\"" + shown + "\" (expected: " + UpstreamAddress.ACCEPTED + ")");
    }

    /** The URL alone: a certificate is too long for a log. */
    @Override
    public String toString() {
        return url.toString();
    }
}
