package dev.culvert.server;

import dev.culvert.certs.CertificateAuthority;
import dev.culvert.certs.CertsException;
import dev.culvert.certs.Sha256;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.scheduler.Schedulers;

/**
 * The authority of {@code tunnel.ca}. Reads its files again when they change, so an authority can be replaced
 * without a restart. If the new files are unusable, the error is logged and the present authority stays.
 * {@link #get} is callable from any thread.
 */
final class AuthorityFiles implements Supplier<CertificateAuthority> {
    private static final Logger log = LoggerFactory.getLogger(AuthorityFiles.class);
    /** The maximum size of a file that is read: room for eight certificates with much text around them. */
    private static final long MAX_FILE_BYTES = 1 << 20;
    /**
     * The interval between two checks of the files. It is short enough for an operator who waits for a
     * change.
     */
    static final Duration LOOK = Duration.ofSeconds(2);

    private final Path certificate;
    private final Path key;
    private final Clock clock;
    private volatile CertificateAuthority present;
    /** The digests of the files at the last check. Used by the checks alone. */
    private List<Sha256> seen;

    /** Reads the files. Blocks. Errors: {@link CertsException} naming the file. */
    AuthorityFiles(ServerConfig.Ca ca, Clock clock) {
        this.certificate = ca.certificate();
        this.key = ca.key();
        this.clock = clock;
        this.seen = stamps();
        this.present = CertificateAuthority.load(certificate, key, clock);
    }

    @Override
    public CertificateAuthority get() {
        return present;
    }

    /** Checks the files every {@link #LOOK} until disposed. */
    Disposable watch() {
        return Flux.interval(LOOK, LOOK, Schedulers.boundedElastic())
                .onBackpressureDrop()
                .subscribe(tick -> look());
    }

    /** Reads the files again if they changed. Blocks. */
    void look() {
        List<Sha256> now = stamps();
        if (now.equals(seen)) {
            return;
        }
        seen = now;
        try {
            CertificateAuthority next = CertificateAuthority.load(certificate, key, clock);
            present = next;
            log.atInfo()
                    .addKeyValue("signs", next.certificate().getSubjectX500Principal())
                    .addKeyValue("trusted", next.authorities().size())
                    .log("tunnel authorities read again");
        } catch (CertsException e) {
            log.atError()
                    .addKeyValue("reason", e.getMessage())
                    .log("tunnel authorities can't be read again, the ones before stay");
        }
    }

    /** The digests of the files' contents. A file that can't be read counts as empty. */
    private List<Sha256> stamps() {
        return Stream.of(certificate, key).map(AuthorityFiles::stamp).toList();
    }

    private static Sha256 stamp(Path file) {
        try {
            return Sha256.of(Files.size(file) > MAX_FILE_BYTES ? new byte[0] : Files.readAllBytes(file));
        } catch (IOException e) {
            return Sha256.of(new byte[0]);
        }
    }
}
