package dev.culvert.platform.host;

import dev.culvert.certs.AtomicFile;
import dev.culvert.handlers.host.HandlerHost;
import dev.culvert.http.observe.AuditTrail;
import dev.culvert.platform.host.spi.OperatorRecovery;
import dev.culvert.platform.host.spi.OperatorRecovery.Recovered;
import dev.culvert.store.StoreException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import reactor.core.publisher.Mono;

/** Gives an operator access again, with the parts of a control plane that serves nobody. */
record Recovery(PlatformParts parts, HandlerHost host) {
    private static final String OWNERS_ALONE = "rw-------";

    /** Writes the key of an operator to a new file, mode 0600, and an audit record. */
    Mono<Recovered> run(Path to) {
        var mine = new AtomicBoolean();
        return host.service(OperatorRecovery.class)
                .recover(key -> keep(key, to, mine))
                .flatMap(done -> parts.audit().write(record(done)).thenReturn(done))
                .onErrorResume(failed -> parts.audit().write(refused()).then(Mono.error(failed)))
                .flatMap(done -> end().thenReturn(done))
                .onErrorResume(failed -> end().then(Mono.error(failed)));
    }

    private Mono<Void> end() {
        return host.stop(Duration.ZERO).onErrorComplete().then(parts.free(Duration.ZERO));
    }

    private static AuditTrail.Entry record(Recovered done) {
        return new AuditTrail.Entry(person(), done.account(), "RECOVER", "directory",
                "/api/keys/" + done.key() + (done.isNew() ? " of the new operator " : " of operator ")
                        + done.user(),
                AuditTrail.Decision.ALLOWED, null, null, null);
    }

    private static AuditTrail.Entry refused() {
        return new AuditTrail.Entry(person(), null, "RECOVER", "directory", "an operator's key",
                AuditTrail.Decision.FAILED, null, null, "it failed; nothing was changed");
    }

    /** Who has the machine has no identity of the control plane's. */
    private static String person() {
        return "command as " + System.getProperty("user.name", "unknown");
    }

    /** A change may run twice: {@code mine} says whether this one has made the file before. */
    private static void keep(String key, Path to, AtomicBoolean mine) {
        byte[] line = (key + "\n").getBytes(StandardCharsets.US_ASCII);
        try {
            if (mine.get()) {
                AtomicFile.write(to, line, OWNERS_ALONE);
                return;
            }
            mine.set(AtomicFile.create(to, line, OWNERS_ALONE));
            if (!mine.get()) {
                throw new StoreException.Conflict(to + " exists already (expected: the name of a new file)");
            }
        } catch (IOException e) {
            throw new StoreException.Conflict(
                    to + " can't be written (expected: a folder that you may write)");
        }
    }
}
