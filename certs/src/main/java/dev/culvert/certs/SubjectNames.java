package dev.culvert.certs;

import java.net.InetAddress;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.bouncycastle.asn1.DEROctetString;
import org.bouncycastle.asn1.x509.GeneralName;

/** Validates the alternative names of a listener's certificate. */
final class SubjectNames {
    private static final int MAX_DNS_NAME = 253;
    private static final Pattern DNS_NAME = Pattern
            .compile("(\\*\\.)?[a-zA-Z0-9_]([a-zA-Z0-9_-]{0,62})(\\.[a-zA-Z0-9_]([a-zA-Z0-9_-]{0,62}))*");

    private SubjectNames() {}

    static List<GeneralName> of(List<String> dnsNames, List<InetAddress> addresses) {
        if (dnsNames.isEmpty() && addresses.isEmpty()) {
            throw new CertsException(
                    "no name for a listener's certificate (expected: a DNS name or an address)");
        }
        for (String name : dnsNames) {
            if (name.length() > MAX_DNS_NAME || !DNS_NAME.matcher(name).matches()) {
                throw new CertsException(
                        "DNS name " + name + " (expected: as tunnels.example.com, or *.example.com)");
            }
        }
        Stream<GeneralName> dns = dnsNames.stream().map(name -> new GeneralName(GeneralName.dNSName, name));
        Stream<GeneralName> ip = addresses.stream()
                .map(address -> new GeneralName(GeneralName.iPAddress,
                        new DEROctetString(address.getAddress())));
        return Stream.concat(dns, ip).toList();
    }
}
