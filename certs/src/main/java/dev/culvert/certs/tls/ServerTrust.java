package dev.culvert.certs.tls;

import dev.culvert.certs.CertsException;
import dev.culvert.certs.KeyPin;
import java.security.cert.X509Certificate;
import java.util.List;
import java.util.stream.Stream;

/**
 * Which servers a client believes: one rule that says yes is enough. The host name is always verified as well.
 *
 * @param authorities certificates of authorities, from a CA file
 * @param systemRoots whether the public authorities that Java knows count
 * @param pins authorities named by key: a chain is trusted that holds one and validates to it
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

    /** Trusts what these authorities issued. */
    public static ServerTrust inAuthorities(List<X509Certificate> authorities) {
        return new ServerTrust(authorities, false, List.of());
    }

    /** Trusts what the public authorities that Java knows issued. */
    public static ServerTrust inSystemRoots() {
        return new ServerTrust(List.of(), true, List.of());
    }

    /** Trusts what the authority with this key issued, if the server sends that authority's certificate along. */
    public static ServerTrust inPin(KeyPin pin) {
        return new ServerTrust(List.of(), false, List.of(pin));
    }

    /** Trusts what either trusts. */
    public ServerTrust or(ServerTrust other) {
        return new ServerTrust(Stream.concat(authorities.stream(), other.authorities.stream()).toList(),
                systemRoots || other.systemRoots, Stream.concat(pins.stream(), other.pins.stream()).toList());
    }
}
