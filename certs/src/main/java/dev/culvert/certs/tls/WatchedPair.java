package dev.culvert.certs.tls;

import dev.culvert.certs.CertificateFiles;
import dev.culvert.certs.CertsException;
import dev.culvert.certs.TlsMaterial;
import io.netty.handler.ssl.SslContext;
import java.security.cert.X509Certificate;
import java.time.Clock;
import java.time.Instant;
import java.util.Arrays;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A certificate with its key, reloaded when their files change. Unusable files do not replace the present
 * pair. They are logged once, if a second look still finds them unusable, because the two files are often
 * written one after the other. Used by one thread at a time.
 */
final class WatchedPair {
    private static final Logger log = LoggerFactory.getLogger(WatchedPair.class);

    private final String listener;
    private final CertificateFiles files;
    private final Function<TlsMaterial, SslContext> contexts;
    private final Clock clock;
    private InUse inUse;
    private byte[] stamp;
    /** The error found by the last look. */
    private @Nullable String wrong;
    private @Nullable String complained;

    /** The certificate and context that handshakes use. */
    record InUse(TlsMaterial material, SslContext context) {}

    private WatchedPair(String listener, CertificateFiles files, Function<TlsMaterial, SslContext> contexts,
            Clock clock) {
        this.listener = listener;
        this.files = files;
        this.contexts = contexts;
        this.clock = clock;
        stamp = files.stamp();
        inUse = read();
    }

    /**
     * Reads the files for the first time. Throws {@link CertsException}. An expired certificate is used and
     * logged as a warning.
     */
    static WatchedPair load(String listener, CertificateFiles files,
            Function<TlsMaterial, SslContext> contexts, Clock clock) {
        var pair = new WatchedPair(listener, files, contexts, clock);
        String untimely = pair.untimely(pair.inUse.material().leaf());
        if (untimely != null) {
            log.atWarn()
                    .addKeyValue("listener", listener)
                    .addKeyValue("reason", untimely)
                    .log("certificate of a listener is not valid now; it is used because there is no other");
        }
        return pair;
    }

    InUse inUse() {
        return inUse;
    }

    /** Checks the files. Returns whether a new pair was loaded. Blocks. */
    boolean look() {
        byte[] seen = files.stamp();
        if (wrong == null && seen.length > 0 && Arrays.equals(seen, stamp)) {
            return false;
        }
        stamp = seen;
        try {
            InUse read = read();
            String untimely = untimely(read.material().leaf());
            if (untimely != null) {
                complain(untimely);
                return false;
            }
            wrong = null;
            complained = null;
            return replaced(read);
        } catch (CertsException e) {
            complain(String.valueOf(e.getMessage()));
            return false;
        }
    }

    private InUse read() {
        TlsMaterial material = files.load();
        return new InUse(material, contexts.apply(material));
    }

    private boolean replaced(InUse read) {
        if (read.material().chain().equals(inUse.material().chain())) {
            return false;
        }
        inUse = read;
        log.atInfo()
                .addKeyValue("listener", listener)
                .addKeyValue("file", files.certificate())
                .addKeyValue("until", read.material().leaf().getNotAfter().toInstant())
                .log("certificate reloaded; new handshakes use it");
        return true;
    }

    private @Nullable String untimely(X509Certificate leaf) {
        Instant now = clock.instant();
        Instant start = leaf.getNotBefore().toInstant();
        Instant end = leaf.getNotAfter().toInstant();
        if (now.isAfter(end)) {
            return files.certificate() + ": the certificate ended at " + end
                    + " (expected: one that is valid now)";
        }
        return now.isBefore(start)
                ? files.certificate() + ": the certificate is not valid before " + start
                        + " (expected: one that is valid now; compare the clocks)"
                : null;
    }

    private void complain(String reason) {
        boolean again = reason.equals(wrong);
        wrong = reason;
        if (!again || reason.equals(complained)) {
            return;
        }
        complained = reason;
        X509Certificate kept = inUse.material().leaf();
        log.atWarn()
                .addKeyValue("listener", listener)
                .addKeyValue("reason", reason)
                .addKeyValue("kept", kept.getSubjectX500Principal())
                .addKeyValue("keptUntil", kept.getNotAfter().toInstant())
                .log("certificate of a listener can't be used; the previous one stays in use");
    }
}
