package dev.culvert.launcher.certs;

import dev.culvert.certs.CertificateAuthority;
import dev.culvert.certs.CertificateFacts;
import dev.culvert.certs.CertificateFiles;
import dev.culvert.certs.CertsException;
import dev.culvert.certs.PemFiles;
import dev.culvert.certs.TlsMaterial;
import dev.culvert.config.Reason;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.security.cert.X509Certificate;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A folder with an authority and the two certificates of a server.
 *
 * @param path the folder
 */
public record CertsFolder(Path path) {
    /** Browsers refuse server certificates that live longer than 398 days. */
    public static final Duration LIFE = Duration.ofDays(397);
    private static final List<String> NAMES = List.of("ca.crt", "ca.key", "edge.crt", "edge.key",
            "tunnel.crt",
            "tunnel.key");
    private static final Set<String> AUTHORITIES = Set.of("ca.crt", "next-ca.crt", "previous-ca.crt");

    /** As {@link #init(String, ListenerNames)}, with an authority that may sign every name. */
    public void init(String domain) {
        init(domain, null);
    }

    /**
     * Writes authority, edge certificate (for {@code domain} and {@code *.domain}) and tunnel certificate
     * (for {@code domain}, {@code localhost} and 127.0.0.1); keys have mode 0600. Blocks on the disk.
     *
     * @param permit domains and addresses that the authority may sign in addition to these; null: it may sign
     *     every name
     * @throws CertsException if one of the files exists; then nothing is written
     */
    public void init(String domain, @Nullable ListenerNames permit) {
        prepare();
        String name = "Culvert CA for " + shortened(domain);
        CertificateAuthority authority = permit == null
                ? CertificateAuthority.create(name, Clock.systemUTC())
                : CertificateAuthority.createFor(
                        Stream.concat(Stream.of(domain, "localhost"), permit.dns().stream())
                                .distinct()
                                .toList(),
                        Stream.concat(Stream.of(InetAddress.ofLiteral("127.0.0.1")),
                                permit.addresses().stream()).distinct().toList(),
                        name, Clock.systemUTC());
        authority.writeTo(caCertificate(), file("ca.key"));
        authority.issueServer(List.of(domain, "*." + domain), List.of(), LIFE)
                .writeTo(file("edge.crt"),
                        file("edge.key"));
        List<String> names = Stream.of(domain, "localhost").distinct().toList();
        authority.issueServer(names, List.of(InetAddress.ofLiteral("127.0.0.1")), LIFE)
                .writeTo(file("tunnel.crt"),
                        file("tunnel.key"));
    }

    /**
     * Issues the certificate of one more listener, with a new key of mode 0600. Blocks on the disk.
     *
     * @param life the validity, limited to that of the authority
     * @param files the files to write, in any existing folder
     * @param replace whether existing files may be replaced
     * @return the certificate
     * @throws CertsException if a file exists that must not be replaced, which an authority's file never may;
     *     then nothing is written
     */
    public X509Certificate issue(ListenerNames names, Duration life, CertificateFiles files,
            boolean replace) {
        List<Path> present = Stream.of(files.certificate(), files.key())
                .filter(CertsFolder::isThere)
                .toList();
        if (!present.isEmpty() && !replace) {
            throw new CertsException(
                    present.getFirst() + " is there already (nothing was written; name others with --out,"
                            + " or replace them with --force)");
        }
        String name = String.valueOf(files.certificate().getFileName());
        if (AUTHORITIES.contains(name)
                || isThere(files.certificate()) && holdsAuthority(files.certificate())) {
            throw new CertsException(
                    files.certificate() + " is an authority's (expected: another name in --out)");
        }
        TlsMaterial issued = authority().issueServer(names.dns(), names.addresses(), life);
        issued.writeTo(files.certificate(), files.key());
        return issued.leaf();
    }

    /** The issuing authority. Blocks. Throws {@link CertsException} if it is unusable or has expired. */
    CertificateAuthority authority() {
        CertificateAuthority authority = CertificateAuthority.load(caCertificate(), file("ca.key"));
        Instant end = authority.certificate().getNotAfter().toInstant();
        if (!end.isAfter(Instant.now())) {
            throw new CertsException(caCertificate() + ": the authority ended at " + end
                    + " (expected: one that is valid; culvert certs renew --authority begin makes the next one)");
        }
        return authority;
    }

    private static boolean isThere(Path file) {
        return Files.exists(file, LinkOption.NOFOLLOW_LINKS);
    }

    private static boolean holdsAuthority(Path file) {
        try {
            return CertificateFacts.of(PemFiles.readCertificates(file).getFirst()).authority();
        } catch (CertsException e) {
            return false; // not a certificate
        }
    }

    /** The file {@code ca.crt}, which callers and clients have to trust. */
    public Path caCertificate() {
        return file("ca.crt");
    }

    /** A file in the folder. */
    public Path file(String name) {
        return path.resolve(name);
    }

    private void prepare() {
        try {
            Files.createDirectories(path);
        } catch (IOException e) {
            throw new CertsException(path + ": can't be made: " + Reason.of(e), e);
        }
        List<String> present = NAMES.stream().filter(name -> Files.exists(file(name))).toList();
        if (!present.isEmpty()) {
            throw new CertsException(path + " already holds " + String.join(", ", present)
                    + " (nothing was written; name another folder, or remove them if they are of no use any more)");
        }
    }

    /** Shortens the domain, because a common name has at most 64 characters. */
    private static String shortened(String domain) {
        return domain.length() > 45 ? domain.substring(0, 45) : domain;
    }
}
