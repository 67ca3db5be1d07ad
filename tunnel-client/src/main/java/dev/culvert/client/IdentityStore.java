package dev.culvert.client;

import dev.culvert.certs.CertsException;
import dev.culvert.certs.ClientIdentity;
import dev.culvert.certs.KeyPairs;
import dev.culvert.certs.PemFiles;
import dev.culvert.certs.ServerTrust;
import dev.culvert.certs.TlsMaterial;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.KeyPair;
import java.security.cert.X509Certificate;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/**
 * The identity folder: {@code client.key} (0600), {@code client.crt}, {@code ca.crt}, and {@code enrolment.key} (0600)
 * while an enrolment is under way. Each file is replaced whole; {@code enrolment.key} goes last, so that after a crash
 * at any point either the old or the new identity can be had. All work is done on the elastic scheduler; cancelling
 * does not undo it. Errors: {@link CertsException} naming the file.
 */
final class IdentityStore {
    private final Path folder;
    private final @Nullable Path serverCa;
    private final Path key;
    private final Path certificate;
    private final Path authority;
    private final Path enrolmentKey;

    /** @param serverCa the configured authorities of servers, which replace all other trust */
    IdentityStore(Path folder, @Nullable Path serverCa) {
        this.folder = folder;
        this.serverCa = serverCa;
        this.key = folder.resolve("client.key");
        this.certificate = folder.resolve("client.crt");
        this.authority = folder.resolve("ca.crt");
        this.enrolmentKey = folder.resolve("enrolment.key");
    }

    /** What is there. Fails only for a configured {@code serverCa} that can't be read. */
    Mono<StoredIdentity> load() {
        return blocking(() -> {
            ServerTrust configured = configuredTrust();
            if (!Files.exists(key) && !Files.exists(certificate)) {
                return new StoredIdentity.Absent();
            }
            try {
                return new StoredIdentity.Usable(read(configured));
            } catch (CertsException e) {
                return new StoredIdentity.Broken(String.valueOf(e.getMessage()));
            }
        });
    }

    /** Trust for an enrolment: the configured authorities, else {@code otherwise}. */
    Mono<ServerTrust> trustOr(ServerTrust otherwise) {
        return blocking(() -> {
            ServerTrust configured = configuredTrust();
            return configured == null ? otherwise : configured;
        });
    }

    /** The key of the enrolment under way, or a new one, on disk before it is returned. */
    Mono<KeyPair> enrolmentKey() {
        return blocking(() -> {
            createFolder();
            if (Files.exists(enrolmentKey)) {
                try {
                    return KeyPairs.of(PemFiles.readKey(enrolmentKey));
                } catch (CertsException e) {
                    // Nothing was issued for a key that can't be read: a new one loses nothing.
                    Files.delete(enrolmentKey);
                }
            }
            KeyPair made = KeyPairs.generate();
            PemFiles.writeKey(enrolmentKey, made.getPrivate());
            return made;
        });
    }

    /** Replaces the identity, and ends the enrolment. */
    Mono<Identity> save(KeyPair keys, X509Certificate leaf, X509Certificate ca) {
        return blocking(() -> {
            PemFiles.writeCertificates(authority, List.of(ca));
            new TlsMaterial(List.of(leaf), keys.getPrivate()).writeTo(certificate, key);
            Identity identity = read(configuredTrust());
            Files.deleteIfExists(enrolmentKey);
            return identity;
        });
    }

    private Identity read(@Nullable ServerTrust configured) {
        TlsMaterial material = TlsMaterial.load(certificate, key);
        ClientIdentity client;
        try {
            client = ClientIdentity.from(material.leaf());
        } catch (CertsException e) {
            throw new CertsException(certificate + ": " + e.getMessage(), e);
        }
        return new Identity(material, client, configured != null ? configured : enrolledTrust());
    }

    private @Nullable ServerTrust configuredTrust() {
        return serverCa == null ? null : ServerTrust.inAuthorities(PemFiles.readCertificates(serverCa));
    }

    /** A folder without ca.crt is one that a public authority is enough for. */
    private ServerTrust enrolledTrust() {
        ServerTrust roots = ServerTrust.inSystemRoots();
        return Files.exists(authority)
                ? roots.or(ServerTrust.inAuthorities(PemFiles.readCertificates(authority)))
                : roots;
    }

    private void createFolder() throws IOException {
        if (Files.isDirectory(folder)) {
            return;
        }
        if (folder.getFileSystem().supportedFileAttributeViews().contains("posix")) {
            Files.createDirectories(folder,
                    PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
        } else {
            Files.createDirectories(folder);
        }
    }

    private <T> Mono<T> blocking(Callable<T> work) {
        return Mono.fromCallable(work)
                .onErrorMap(IOException.class,
                        e -> new CertsException(folder + ": can't be used as identityDir, " + e, e))
                .subscribeOn(Schedulers.boundedElastic());
    }
}
