package dev.culvert.certs;

import java.nio.file.Path;
import java.security.PrivateKey;
import java.security.cert.X509Certificate;
import java.util.List;

/**
 * A certificate chain with the private key of its leaf, for one end of TLS. {@code toString} omits the key.
 *
 * @param chain leaf first; an issued chain ends with the authority's own certificate, so that a peer can pin
 *     it
 * @param key the leaf's private key
 */
public record TlsMaterial(List<X509Certificate> chain, PrivateKey key) {
    public TlsMaterial {
        chain = List.copyOf(chain);
        if (chain.isEmpty()) {
            throw new CertsException("an empty certificate chain (expected: the leaf at least)");
        }
        if (!KeyPairs.match(key, chain.get(0).getPublicKey())) {
            throw new CertsException("the private key does not belong to the certificate "
                    + chain.get(0).getSubjectX500Principal() + " (expected: both of one pair)");
        }
    }

    /**
     * Reads PEM files. Blocks. Throws {@link CertsException} that names the file, also if key and certificate
     * do not match.
     */
    public static TlsMaterial load(Path certificate, Path key) {
        List<X509Certificate> chain = PemFiles.readCertificates(certificate);
        PrivateKey privateKey = PemFiles.readKey(key);
        if (!KeyPairs.match(privateKey, chain.get(0).getPublicKey())) {
            throw new CertsException(key + ": not the key of the certificate in " + certificate
                    + " (expected: the key that its first certificate was issued for)");
        }
        return new TlsMaterial(chain, privateKey);
    }

    /** The certificate of this end. */
    public X509Certificate leaf() {
        return chain.get(0);
    }

    /** Writes the chain and the key (mode 0600) as PEM. Blocks. */
    public void writeTo(Path certificate, Path keyFile) {
        PemFiles.writeKey(keyFile, key);
        PemFiles.writeCertificates(certificate, chain);
    }

    @Override
    public String toString() {
        return "TlsMaterial[" + leaf().getSubjectX500Principal() + ", key=***]";
    }
}
