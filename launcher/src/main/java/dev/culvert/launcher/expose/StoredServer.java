package dev.culvert.launcher.expose;

import com.fasterxml.jackson.core.JacksonException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.culvert.certs.AtomicFile;
import dev.culvert.client.dial.ClientConfig;
import dev.culvert.client.identity.IdentitySource;
import dev.culvert.config.HostPort;
import dev.culvert.launcher.run.CommandException;
import dev.culvert.launcher.run.ExitCode;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A server with the identity that it gave this user, in a folder that only they may read: the files of the
 * identity, {@code server.json}, and the authorities that were named. All methods block.
 *
 * @param name the user's name for it
 * @param folder its folder
 * @param addresses the addresses of the server
 */
record StoredServer(String name, Path folder, List<URI> addresses) {
    private static final JsonMapper JSON = new JsonMapper();
    private static final String FILE = "server.json";
    private static final String SERVER_CA = "server-ca.crt";
    private static final String EXTRA_CA = "extra-ca.crt";
    /** The health listener of a command at a terminal takes any free port: nothing probes it. */
    private static final HostPort ANY_PORT = new HostPort("127.0.0.1", 0);

    /** Reads what {@link #write} wrote. */
    static StoredServer read(String name, Path folder) {
        Path file = folder.resolve(FILE);
        try {
            List<URI> addresses = new ArrayList<>();
            for (JsonNode each : JSON.readTree(Files.readAllBytes(file)).path("server")) {
                addresses.add(URI.create(each.asText()));
            }
            return new StoredServer(name, folder, List.copyOf(addresses));
        } catch (NoSuchFileException e) {
            throw new CommandException(ExitCode.CONFIG, folder + " holds no " + FILE
                    + " (expected: a folder that culvert connect wrote; remove it and connect again)");
        } catch (JacksonException | IllegalArgumentException e) {
            throw new CommandException(ExitCode.CONFIG, file + " can't be read as JSON (expected: as culvert"
                    + " connect wrote it; remove " + folder + " and connect again)");
        } catch (IOException e) {
            throw new CommandException(ExitCode.CONFIG, file + " can't be read: " + e.getMessage());
        }
    }

    /** Writes the file and copies the authorities; removes those that are not named. */
    void write(@Nullable Path serverCa, @Nullable Path extraCa) throws IOException {
        copy(serverCa, SERVER_CA);
        copy(extraCa, EXTRA_CA);
        ObjectNode document = JSON.createObjectNode();
        addresses.forEach(address -> document.withArray("server").add(address.toString()));
        AtomicFile.write(folder.resolve(FILE),
                (document.toPrettyString() + "\n").getBytes(StandardCharsets.UTF_8), "rw-------");
    }

    private void copy(@Nullable Path authorities, String to) throws IOException {
        if (authorities == null) {
            Files.deleteIfExists(folder.resolve(to));
        } else {
            AtomicFile.write(folder.resolve(to), Files.readAllBytes(authorities), "rw-------");
        }
    }

    /** The runtime's public URL; empty if the server has named none. */
    Optional<URI> publicUrl() {
        return IdentitySource.publicUrl(folder);
    }

    /**
     * The configuration of a client.
     *
     * @param token the file of an enrolment token; null: there is an identity
     * @param to the upstream; null: none is needed
     */
    ClientConfig client(@Nullable Path token, @Nullable URI to) {
        return new ClientConfig(addresses, present(SERVER_CA), present(EXTRA_CA), null, token, folder,
                new ClientConfig.Health(ANY_PORT), to, null, null, 2);
    }

    private @Nullable Path present(String file) {
        Path path = folder.resolve(file);
        return Files.exists(path) ? path : null;
    }
}
