package dev.culvert.relay.listen;

import dev.culvert.certs.tls.ListenerTls;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.Disposable;
import reactor.core.scheduler.Schedulers;

/** Reloads the listeners' certificates when their files change, off the event loops. */
public final class CertificateWatch {
    private static final Logger log = LoggerFactory.getLogger(CertificateWatch.class);
    /**
     * Cheap, because only a few small files are read, and fast enough for operators who wait for a new
     * certificate.
     */
    private static final Duration EVERY = Duration.ofSeconds(2);

    private CertificateWatch() {}

    /** Checks the files every 2 s until disposed. */
    public static Disposable start(List<ListenerTls> listeners) {
        return Schedulers.boundedElastic()
                .schedulePeriodically(() -> listeners.forEach(CertificateWatch::look), EVERY.toMillis(),
                        EVERY.toMillis(), TimeUnit.MILLISECONDS);
    }

    /** Catches exceptions, because the scheduler would stop all later checks. */
    private static void look(ListenerTls tls) {
        try {
            tls.look();
        } catch (RuntimeException e) {
            log.atError().setCause(e).log("certificate files of a listener could not be checked");
        }
    }
}
