package dev.culvert.certs;

import java.net.InetAddress;
import java.security.cert.CertificateParsingException;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.stream.Stream;

/**
 * The subject alternative names of a certificate (RFC 5280 §4.2.1.6), each kind in its original order.
 *
 * @param dns DNS names as written
 * @param addresses IP addresses
 * @param uris URIs as written
 * @param others the number of names of other kinds
 */
public record AlternativeNames(List<String> dns, List<InetAddress> addresses, List<String> uris, int others) {
    private static final int DNS_NAME = 2;
    private static final int URI_NAME = 6;
    private static final int IP_ADDRESS = 7;

    public AlternativeNames {
        dns = List.copyOf(dns);
        addresses = List.copyOf(addresses);
        uris = List.copyOf(uris);
    }

    /** Reads the names; there may be none. Throws {@link CertsException} if they are malformed. */
    public static AlternativeNames of(X509Certificate certificate) {
        List<String> dns = new ArrayList<>();
        List<InetAddress> addresses = new ArrayList<>();
        List<String> uris = new ArrayList<>();
        int others = 0;
        for (List<?> name : all(certificate)) {
            String value = String.valueOf(name.get(1));
            switch ((Integer) name.get(0)) {
                case DNS_NAME -> dns.add(value);
                case URI_NAME -> uris.add(value);
                case IP_ADDRESS -> addresses.add(address(value));
                default -> others++;
            }
        }
        return new AlternativeNames(dns, addresses, uris, others);
    }

    private static InetAddress address(String text) {
        try {
            return InetAddress.ofLiteral(text);
        } catch (IllegalArgumentException e) { // an address with a mask, which only name constraints may contain
            throw new CertsException("a certificate with malformed alternative names", e);
        }
    }

    /** All names as text for people: DNS names, then addresses, then URIs. */
    public List<String> texts() {
        return Stream.of(dns.stream(), addresses.stream().map(InetAddress::getHostAddress), uris.stream())
                .flatMap(texts -> texts)
                .toList();
    }

    private static Collection<List<?>> all(X509Certificate certificate) {
        try {
            Collection<List<?>> names = certificate.getSubjectAlternativeNames();
            return names == null ? List.of() : names;
        } catch (CertificateParsingException e) {
            throw new CertsException("a certificate with malformed alternative names", e);
        }
    }
}
