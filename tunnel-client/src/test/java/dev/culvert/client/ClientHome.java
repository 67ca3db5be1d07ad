package dev.culvert.client;

import dev.culvert.certs.EnrolmentToken;
import dev.culvert.client.dial.ClientConfig;
import dev.culvert.client.identity.IdentitySource;
import dev.culvert.config.HostPort;
import dev.culvert.http.net.EventLoops;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A client's configuration in a folder of its test. */
public final class ClientHome {
    private static final EventLoops LOOPS = EventLoops.create(1);
    private final Path folder;

    public ClientHome(Path folder) {
        this.folder = folder;
    }

    public IdentitySource source(@Nullable EnrolmentToken token, @Nullable Path serverCa, Clock clock,
            URI... servers)
            throws IOException {
        Path tokenFile = token == null
                ? null
                : Files.writeString(folder.resolve("token"), token.text() + "\n");
        return source(tokenFile, serverCa, clock, List.of(servers));
    }

    public IdentitySource source(@Nullable Path tokenFile, @Nullable Path serverCa, Clock clock,
            List<URI> servers) {
        var health = new ClientConfig.Health(HostPort.parse("127.0.0.1:0"));
        var config = new ClientConfig(servers, serverCa, tokenFile, folder.resolve("home"), health, null,
                null, null, 2);
        return new IdentitySource(config, LOOPS, clock);
    }

    /** A file in the identity folder. */
    public Path file(String name) {
        return folder.resolve("home").resolve(name);
    }
}
