package dev.culvert.benchmarks.target;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * A certificate authority with the certificates of an edge and of a tunnel listener, from {@code culvert
 * certs init}.
 *
 * @param folder of the PEM files; those of keys have mode 0600
 */
record Certificates(Path folder) {
    static final String DOMAIN = "culvert.localhost";

    static Certificates create(Path folder) {
        CulvertPrograms.run("certs", "init", "--dir", folder.toString(), "--domain", DOMAIN);
        return new Certificates(folder);
    }

    /** The certificate chain of TLS listeners for callers, and between the hops of other proxies. */
    Path edgeCertificate() {
        return folder.resolve("edge.crt");
    }

    Path edgeKey() {
        return folder.resolve("edge.key");
    }

    /** Certificate and key in one file, as HAProxy wants them. */
    Path edgePem(Path file) throws IOException {
        return Testbed.secret(file, Files.readString(edgeCertificate()) + Files.readString(edgeKey()));
    }
}
