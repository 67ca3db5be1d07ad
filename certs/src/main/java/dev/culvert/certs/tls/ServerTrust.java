package dev.culvert.certs.tls;

import dev.culvert.certs.CertsException;
import dev.culvert.certs.KeyPin;
import java.security.cert.X509Certificate;
import java.util.List;
import java.util.stream.Stream;

/**
 * The rules by which a client trusts servers. One matching rule is sufficient. The host name is always
 * verified too.
 *
 * @param authorities the certificates of authorities, from a CA file
 * @param systemRoots whether Java's public authorities are trusted
 * @param pins authorities identified by key; a chain is trusted if it contains one and validates to it
 */
public record ServerTrust(List<X509Certificate> authorities, boolean systemRoots, List<KeyPin> pins) {
    public ServerTrust {
        authorities = List.copyOf(authorities);
        pins = List.copyOf(pins);
        if (authorities.isEmpty() && !systemRoots && pins.isEmpty()) {
            throw new CertsException(
                    "no server would be trusted (expected: an authority, a pin or the system's roots)");
        }
    }

    /** Trusts certificates that these authorities issued. */
    public static ServerTrust inAuthorities(List<X509Certificate> authorities) {
        return new ServerTrust(authorities, false, List.of());
    }

    /** Trusts certificates that Java's public authorities issued. */
    public static ServerTrust inSystemRoots() {
        return new ServerTrust(List.of(), true, List.of());
    }

    /**
     * Trusts certificates that the authority with this key issued, if the server also sends that authority's
     * certificate.
     */
    public static ServerTrust inPin(KeyPin pin) {
        return new ServerTrust(List.of(), false, List.of(pin));
    }

    /** Trusts a server if either of the two trusts it. */
    public ServerTrust or(ServerTrust other) {
        return new ServerTrust(Stream.concat(authorities.stream(), other.authorities.stream()).toList(),
                systemRoots || other.systemRoots, Stream.concat(pins.stream(), other.pins.stream()).toList());
    }
}
