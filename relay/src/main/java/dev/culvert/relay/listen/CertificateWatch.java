package dev.culvert.relay.listen;

import dev.culvert.certs.tls.ListenerTls;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.Disposable;
import reactor.core.scheduler.Schedulers;

/** Keeps the listeners' TLS up to date with its files, off the event loops. */
public final class CertificateWatch {
    private static final Logger log = LoggerFactory.getLogger(CertificateWatch.class);
    /** Some small files are read: too little to notice, and soon enough for whoever waits for a certificate to change. */
    private static final Duration EVERY = Duration.ofSeconds(2);

    private CertificateWatch() {}

    /** Looks every 2 s until disposed. */
    public static Disposable start(List<ListenerTls> listeners) {
        return Schedulers.boundedElastic()
                .schedulePeriodically(() -> listeners.forEach(CertificateWatch::look), EVERY.toMillis(),
                        EVERY.toMillis(), TimeUnit.MILLISECONDS);
    }

    /** A fault in one look must not be the end of all others. */
    private static void look(ListenerTls tls) {
        try {
            tls.look();
        } catch (RuntimeException e) {
            log.atError().setCause(e).log("certificates of a listener could not be looked at");
        }
    }
}
