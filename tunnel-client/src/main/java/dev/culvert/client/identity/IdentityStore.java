package dev.culvert.client.identity;

import dev.culvert.certs.AtomicFile;
import dev.culvert.certs.CertsException;
import dev.culvert.certs.ClientIdentity;
import dev.culvert.certs.KeyPairs;
import dev.culvert.certs.KeyPin;
import dev.culvert.certs.PemFiles;
import dev.culvert.certs.TlsMaterial;
import dev.culvert.certs.VouchedAuthorities;
import dev.culvert.certs.tls.ServerTrust;
import dev.culvert.client.dial.TlsChecks;
import dev.culvert.config.Reason;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.KeyPair;
import java.security.cert.Certificate;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/**
 * The identity folder: {@code client.key} (0600), {@code client.crt}, {@code ca.crt}, {@code url}, and {@code
 * next.key} (0600) during an enrolment or renewal. Each file is replaced atomically. The order of
 * replacements ensures that after a crash at any point either the old or the new identity is usable. All work
 * runs on the elastic scheduler; cancelling does not undo it. Errors: {@link CertsException} that names the
 * file; where a Kubernetes secret keeps the files, {@link EnrolmentException.Failed}: its API will be back.
 *
 * <p>With a secret, replicas that enrol or renew at the same time use one key, that of the first writer: a
 * token works for one key, and a key has one successor.
 */
final class IdentityStore {
    private static final Logger log = LoggerFactory.getLogger(IdentityStore.class);

    /** How often another writer may be faster before an attempt fails. A loser reads what won. */
    private static final int TRIES = 5;

    private final Path folder;
    private final @Nullable IdentitySecret secret;
    private final @Nullable Path serverCa;
    private final @Nullable Path extraCa;
    private final Path key;
    private final Path certificate;
    private final Path authority;
    private final Path nextKey;
    private final Path url;
    /** Whether this client created the folder. */
    private volatile boolean made;

    /**
     * @param secret keeps the files for all replicas, then the folder is a copy; null: the folder alone
     * @param serverCa the configured authorities of servers, which replace all other trust
     * @param extraCa additionally trusted authorities
     */
    IdentityStore(Path folder, @Nullable IdentitySecret secret, @Nullable Path serverCa,
            @Nullable Path extraCa) {
        this.folder = folder;
        this.secret = secret;
        this.serverCa = serverCa;
        this.extraCa = extraCa;
        this.key = folder.resolve("client.key");
        this.certificate = folder.resolve("client.crt");
        this.authority = folder.resolve("ca.crt");
        this.nextKey = folder.resolve("next.key");
        this.url = folder.resolve("url");
    }

    /** Reads the stored identity. Fails only if a configured {@code serverCa} can't be read. */
    Mono<StoredIdentity> load() {
        return blocking(() -> {
            ServerTrust configured = configuredTrust();
            pullUnlessThere();
            if (!Files.exists(key) && !Files.exists(certificate)) {
                return new StoredIdentity.Absent();
            }
            complete();
            try {
                return new StoredIdentity.Usable(read(configured));
            } catch (CertsException e) {
                return new StoredIdentity.Broken(String.valueOf(e.getMessage()));
            }
        });
    }

    /**
     * The trust for an enrolment: the configured authorities, else {@code otherwise}, and always the extra
     * ones.
     */
    Mono<ServerTrust> trustOr(ServerTrust otherwise) {
        return blocking(() -> {
            ServerTrust configured = configuredTrust();
            return withExtra(configured == null ? otherwise : configured);
        });
    }

    /**
     * The trust of a client with this folder, for a diagnosis. Changes no file.
     *
     * @param pin the pin of the token; null without a token
     */
    Mono<TlsChecks.Trusts> trusts(@Nullable KeyPin pin) {
        return blocking(() -> {
            ServerTrust configured = configuredTrust();
            ServerTrust own = configured != null ? configured : enrolledTrust();
            return new TlsChecks.Trusts(
                    configured != null || pin == null ? own : own.or(ServerTrust.inPin(pin)),
                    extraCa == null ? null : ServerTrust.inAuthorities(PemFiles.readCertificates(extraCa)));
        });
    }

    private ServerTrust withExtra(ServerTrust trust) {
        return extraCa == null
                ? trust
                : trust.or(ServerTrust.inAuthorities(PemFiles.readCertificates(extraCa)));
    }

    /** What an enrolment or renewal goes on with. */
    sealed interface Next {
        /** The key of the one in progress, or a new one. It is stored already. */
        record Key(KeyPair keys) implements Next {}

        /** Another replica was faster: its identity. */
        record Stored(Identity identity) implements Next {}
    }

    /**
     * The key to ask a certificate for, or the identity that another replica has stored since.
     *
     * @param present the identity to be replaced; null: none that is usable
     */
    Mono<Next> next(@Nullable Identity present) {
        return blocking(() -> {
            createFolder();
            for (int attempt = 0; attempt < TRIES; attempt++) {
                pull();
                Identity stored = storedAfter(present);
                if (stored != null) {
                    return new Next.Stored(stored);
                }
                KeyPair keys = readOrMakeNextKey();
                if (push()) {
                    return new Next.Key(keys);
                }
            }
            throw new IOException("other replicas change the secret all the time");
        });
    }

    private @Nullable Identity storedAfter(@Nullable Identity present) throws IOException {
        if (secret == null || !Files.exists(certificate)) {
            return null;
        }
        complete();
        try {
            Identity stored = read(configuredTrust());
            boolean other = present == null || !stored.material().leaf().equals(present.material().leaf());
            return other && (present == null || !stored.expires().isBefore(present.expires()))
                    ? stored
                    : null;
        } catch (CertsException e) {
            return null; // unusable, as it was when this replica read it
        }
    }

    private KeyPair readOrMakeNextKey() throws IOException {
        if (Files.exists(nextKey)) {
            try {
                return KeyPairs.of(PemFiles.readKey(nextKey));
            } catch (CertsException e) {
                // No certificate was issued for an unreadable key, so a new key loses nothing.
                Files.delete(nextKey);
            }
        }
        KeyPair made = KeyPairs.generate();
        PemFiles.writeKey(nextKey, made.getPrivate());
        return made;
    }

    /** Deletes the files of an enrolment that was refused for good. */
    Mono<Void> abandon() {
        return blocking(() -> {
            Files.deleteIfExists(nextKey);
            if (secret != null) {
                return push();
            }
            if (made) {
                try {
                    Files.deleteIfExists(folder);
                } catch (DirectoryNotEmptyException e) {
                    return true; // the folder contains an identity
                }
            }
            return true;
        }).then();
    }

    /** Replaces the identity and ends the enrolment. */
    Mono<Identity> save(KeyPair keys, Enroller.Enrolled enrolled) {
        return blocking(() -> {
            PemFiles.writeCertificates(authority, enrolled.authorities());
            keep(enrolled.url());
            return replace(keys, enrolled.certificate());
        });
    }

    /** The runtime's public URL, as the server named it last; empty if it named none. Blocks. */
    static Optional<URI> publicUrl(Path folder) {
        try {
            return Optional.of(URI.create(Files.readString(folder.resolve("url")).strip()));
        } catch (IOException | IllegalArgumentException e) {
            return Optional.empty();
        }
    }

    private void keep(@Nullable URI named) throws IOException {
        if (named != null) {
            AtomicFile.write(url, (named + "\n").getBytes(StandardCharsets.US_ASCII), "rw-------");
        }
    }

    /**
     * Replaces the authorities, then certificate and key. With the new authorities, the old certificate works
     * like the new one.
     */
    Mono<Identity> renewed(KeyPair keys, Renewer.Renewed renewed) {
        return blocking(() -> {
            follow(renewed);
            keep(renewed.url());
            return replace(keys, renewed.certificate());
        });
    }

    /** Replaces the trusted authorities by those that one of the present ones has signed. */
    private void follow(Renewer.Renewed renewed) {
        VouchedAuthorities named = renewed.authorities();
        if (named == null || !Files.exists(authority)) {
            return;
        }
        List<X509Certificate> believed = PemFiles.readCertificates(authority);
        try {
            List<X509Certificate> next = named.verified(renewed.certificate(), believed);
            if (!next.equals(believed)) {
                PemFiles.writeCertificates(authority, next);
                log.atInfo().addKeyValue("authorities", next.size()).log("servers' authorities changed");
            }
        } catch (CertsException e) {
            log.atWarn()
                    .addKeyValue("reason", e.getMessage())
                    .log("servers' authorities unchanged: no trusted authority signed the new ones");
        }
    }

    /**
     * Replaces certificate and key, the certificate first. Until its key is in place, {@link #complete} finds
     * the key in {@code next.key}.
     */
    private Identity replace(KeyPair keys, X509Certificate leaf) throws IOException {
        PemFiles.writeCertificates(certificate, List.of(leaf));
        PemFiles.writeKey(key, keys.getPrivate());
        Files.deleteIfExists(nextKey);
        share();
        return read(configuredTrust());
    }

    /**
     * Writes the new identity to the secret, or reads the one that another replica wrote for the same key. If
     * the Kubernetes API is away, the secret keeps the key, with which any replica gets a certificate again.
     */
    private void share() {
        try {
            if (!push()) {
                pull();
            }
        } catch (IOException e) {
            log.atWarn()
                    .addKeyValue("reason", e.getMessage())
                    .log("the new certificate is not in the secret; the next renewal writes it");
        }
    }

    /** The copy of a container that was restarted serves while the Kubernetes API is away. */
    private void pullUnlessThere() throws IOException {
        try {
            pull();
        } catch (IOException e) {
            if (!Files.exists(key)) {
                throw e;
            }
            log.atWarn().addKeyValue("reason", e.getMessage()).log("identity taken from identityDir");
        }
    }

    /** Replaces the folder's files by those of the secret, unless the folder's certificate ends later. */
    private void pull() throws IOException {
        if (secret == null) {
            return;
        }
        Map<String, byte[]> files = secret.read();
        createFolder();
        byte[] theirs = files.get(String.valueOf(certificate.getFileName()));
        if (Files.exists(certificate)
                && (theirs == null || ends(theirs).isBefore(ends(Files.readAllBytes(certificate))))) {
            push();
            return;
        }
        for (Path file : files()) {
            byte[] content = files.get(String.valueOf(file.getFileName()));
            if (content == null) {
                Files.deleteIfExists(file);
            } else {
                AtomicFile.write(file, content, "rw-------");
            }
        }
    }

    /** Returns false if another replica was faster. */
    private boolean push() throws IOException {
        if (secret == null) {
            return true;
        }
        var files = new TreeMap<String, byte[]>();
        for (Path file : files()) {
            if (Files.exists(file)) {
                files.put(String.valueOf(file.getFileName()), Files.readAllBytes(file));
            }
        }
        return secret.write(files);
    }

    private List<Path> files() {
        return List.of(key, certificate, authority, nextKey, url);
    }

    /** When a certificate ends; long ago if it can't be read, so that any other one is later. */
    private static Instant ends(byte[] pem) {
        try {
            Certificate leaf = CertificateFactory.getInstance("X.509")
                    .generateCertificate(new ByteArrayInputStream(pem));
            return ((X509Certificate) leaf).getNotAfter().toInstant();
        } catch (CertificateException e) {
            return Instant.EPOCH;
        }
    }

    /** Completes a {@link #replace} that a crash has interrupted. */
    private void complete() throws IOException {
        if (!Files.exists(nextKey) || !Files.exists(certificate)) {
            return;
        }
        TlsMaterial cut;
        try {
            cut = TlsMaterial.load(certificate, nextKey);
        } catch (CertsException e) {
            return; // the certificate is not for that key or can't be read: nothing to complete
        }
        PemFiles.writeKey(key, cut.key());
        Files.delete(nextKey);
    }

    private Identity read(@Nullable ServerTrust configured) {
        TlsMaterial material = TlsMaterial.load(certificate, key);
        ClientIdentity client;
        try {
            client = ClientIdentity.from(material.leaf());
        } catch (CertsException e) {
            throw new CertsException(certificate + ": " + e.getMessage(), e);
        }
        return new Identity(material, client, withExtra(configured != null ? configured : enrolledTrust()));
    }

    private @Nullable ServerTrust configuredTrust() {
        return serverCa == null ? null : ServerTrust.inAuthorities(PemFiles.readCertificates(serverCa));
    }

    /** The trust after enrolment. Without ca.crt, public authorities are trusted. */
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
        made = true;
        if (folder.getFileSystem().supportedFileAttributeViews().contains("posix")) {
            Files.createDirectories(folder,
                    PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
        } else {
            Files.createDirectories(folder);
        }
    }

    private <T> Mono<T> blocking(Callable<T> work) {
        return Mono.fromCallable(work)
                .onErrorMap(IOException.class, e -> secret != null
                        ? new EnrolmentException.Failed(String.valueOf(e.getMessage()), e)
                        : new CertsException(folder + ": can't be used as identityDir, " + Reason.of(e),
                                e))
                .subscribeOn(Schedulers.boundedElastic());
    }
}
