package dev.culvert.certs;

import java.io.IOException;
import java.net.InetAddress;
import java.security.cert.X509Certificate;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.bouncycastle.asn1.ASN1OctetString;
import org.bouncycastle.asn1.ASN1Primitive;
import org.bouncycastle.asn1.DEROctetString;
import org.bouncycastle.asn1.x509.Extension;
import org.bouncycastle.asn1.x509.GeneralName;
import org.bouncycastle.asn1.x509.GeneralSubtree;
import org.bouncycastle.asn1.x509.NameConstraintValidatorException;
import org.bouncycastle.asn1.x509.NameConstraints;
import org.bouncycastle.asn1.x509.PKIXNameConstraintValidator;
import org.jspecify.annotations.Nullable;

/**
 * The names of listeners that an authority may sign (RFC 5280 §4.2.1.10). Kinds of names without a constraint
 * are unrestricted, for example the URIs of clients.
 *
 * @param constraints the extension of the authority's certificate
 */
record PermittedNames(NameConstraints constraints) {

    /** Permits only these domains with their subdomains and these addresses. */
    static PermittedNames only(List<String> domains, List<InetAddress> addresses) {
        Stream<GeneralName> dns = domains.stream().map(name -> new GeneralName(GeneralName.dNSName, name));
        Stream<GeneralName> ip = addresses.stream().map(PermittedNames::alone);
        GeneralSubtree[] permitted = Stream.concat(dns, ip)
                .map(GeneralSubtree::new)
                .toArray(GeneralSubtree[]::new);
        return new PermittedNames(new NameConstraints(permitted, null));
    }

    /** An address with the mask that covers only it. */
    private static GeneralName alone(InetAddress address) {
        byte[] bytes = address.getAddress();
        byte[] withMask = Arrays.copyOf(bytes, 2 * bytes.length);
        Arrays.fill(withMask, bytes.length, withMask.length, (byte) 0xff);
        return new GeneralName(GeneralName.iPAddress, new DEROctetString(withMask));
    }

    /**
     * Reads the permitted names of an authority's certificate; null means all names. Throws {@link
     * CertsException} if they can't be read.
     */
    static @Nullable PermittedNames of(X509Certificate authority) {
        byte[] extension = authority.getExtensionValue(Extension.nameConstraints.getId());
        if (extension == null) {
            return null;
        }
        try {
            byte[] value = ASN1OctetString.getInstance(extension).getOctets();
            return new PermittedNames(NameConstraints.getInstance(ASN1Primitive.fromByteArray(value)));
        } catch (IOException | IllegalArgumentException e) {
            throw new CertsException("an authority with malformed name constraints", e);
        }
    }

    /** Throws {@link CertsException} with the first name that is not permitted. */
    void check(List<GeneralName> names) {
        var validator = new PKIXNameConstraintValidator();
        GeneralSubtree[] permitted = constraints.getPermittedSubtrees();
        if (permitted != null) {
            validator.intersectPermittedSubtree(permitted);
        }
        GeneralSubtree[] excluded = constraints.getExcludedSubtrees();
        for (GeneralSubtree each : excluded == null ? new GeneralSubtree[0] : excluded) {
            validator.addExcludedSubtree(each);
        }
        for (GeneralName name : names) {
            try {
                validator.checkPermitted(name);
                validator.checkExcluded(name);
            } catch (NameConstraintValidatorException e) {
                throw new CertsException(text(name)
                        + ": the authority may not sign this name (expected: one that its --permit allowed when it"
                        + " was made; callers would refuse the certificate)", e);
            }
        }
    }

    private static String text(GeneralName name) {
        if (name.getTagNo() != GeneralName.iPAddress) {
            return name.getName().toString();
        }
        byte[] address = ASN1OctetString.getInstance(name.getName()).getOctets();
        try {
            return InetAddress.getByAddress(address).getHostAddress();
        } catch (IOException e) {
            throw new CertsException("an address of " + address.length + " bytes", e);
        }
    }
}
