package dev.culvert.platform.runtimes;

import dev.culvert.certs.CertificateAuthority;
import dev.culvert.platform.directory.testing.Plane;
import java.nio.file.Path;
import java.time.Clock;

/** Control planes that follow a tunnel server. */
final class Planes {
    private Planes() {}

    static Plane start(Path folder, StubServer server) {
        return start(folder, server, "");
    }

    /** @param store the lines of its store */
    static Plane start(Path folder, StubServer server, String store) {
        CertificateAuthority ca = CertificateAuthority.create("Culvert tests", Clock.systemUTC());
        ca.writeTo(folder.resolve("ca.crt"), folder.resolve("ca.key"));
        Plane.write(folder.resolve("registrar.token"), StubServer.TOKEN + "\n");
        return Plane.start(folder, store + """
                handlers:
                  runtimes:
                    server: %s
                    tokenFile: %s
                    authority: %s
                    domain: tunnels.test
                    hosted: http://127.0.0.1:1
                """.formatted(server.url(), folder.resolve("registrar.token"), folder.resolve("ca.crt")));
    }
}
