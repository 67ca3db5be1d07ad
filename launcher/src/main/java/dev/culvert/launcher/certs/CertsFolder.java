package dev.culvert.launcher.certs;

import dev.culvert.certs.CertificateAuthority;
import dev.culvert.certs.CertsException;
import dev.culvert.edge.Reason;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;

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

    /**
     * Writes authority, edge certificate (for {@code domain} and {@code *.domain}) and tunnel certificate (for {@code
     * domain}, {@code localhost} and 127.0.0.1); keys have mode 0600. Blocks on the disk.
     *
     * @throws CertsException when one of the files exists already; then nothing is written
     */
    public void init(String domain) {
        prepare();
        var authority = CertificateAuthority.create("Culvert CA for " + shortened(domain), Clock.systemUTC());
        authority.writeTo(caCertificate(), file("ca.key"));
        authority.issueServer(List.of(domain, "*." + domain), List.of(), LIFE)
                .writeTo(file("edge.crt"),
                        file("edge.key"));
        List<String> names = Stream.of(domain, "localhost").distinct().toList();
        authority.issueServer(names, List.of(InetAddress.ofLiteral("127.0.0.1")), LIFE)
                .writeTo(file("tunnel.crt"),
                        file("tunnel.key"));
    }

    /** {@code ca.crt}: what callers and clients have to trust. */
    public Path caCertificate() {
        return file("ca.crt");
    }

    /** One of the files of the folder. */
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

    /** The common name has 64 characters at most. */
    private static String shortened(String domain) {
        return domain.length() > 45 ? domain.substring(0, 45) : domain;
    }
}
