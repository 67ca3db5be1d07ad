package dev.culvert.client.link;

import dev.culvert.config.ConfigException;
import dev.culvert.routing.RouteConfig;
import dev.culvert.routing.RoutingConfig;
import dev.culvert.routing.SecretFiles;
import java.nio.file.Path;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.Disposable;
import reactor.core.Disposables;

/**
 * The announcement of the embedded router to the server: its durable routes, its policy, and the present
 * secrets that the cluster's owner shares. Safe for use by any thread.
 */
final class OwnAnnouncement {
    private static final Logger log = LoggerFactory.getLogger(OwnAnnouncement.class);

    private final Runnable changed;
    private final Disposable.Swap watching = Disposables.swap();
    private Told current;
    private volatile byte[] document;

    /**
     * Reads the files of secrets and watches them until closed. Blocks. Throws ConfigException if the
     * announcement is too large.
     *
     * @param changed called when a file of secrets has changed the document
     */
    OwnAnnouncement(RoutingConfig routing, Runnable changed) {
        this.changed = changed;
        this.current = new Told(routing);
        this.document = current.write();
        begin(current);
    }

    /** One configuration with its files of secrets. */
    private static final class Told {
        private final RoutingConfig routing;
        private final Set<Path> files;
        private final SecretFiles secrets;

        Told(RoutingConfig routing) {
            this.routing = routing;
            this.files = routing.sharedSecretFiles();
            this.secrets = new SecretFiles(() -> files);
        }

        byte[] write() {
            return routing.announcement(secrets::in).toJson();
        }
    }

    /** The document to announce. The caller must not change it. */
    byte[] document() {
        return document;
    }

    /**
     * Applies another configuration. Blocks. Throws ConfigException if the announcement would be too large;
     * then nothing is changed.
     *
     * @param fits runs after the check and before the configuration takes effect
     */
    synchronized void replace(RoutingConfig routing, Runnable fits) {
        Told next = new Told(routing);
        byte[] written = next.write();
        fits.run();
        current = next;
        document = written;
        begin(next);
    }

    private void begin(Told told) {
        told.routing.effectiveRoutes()
                .stream()
                .filter(route -> route.durable() && isKeptFromTheServer(route.verify()))
                .forEach(route -> log.atWarn()
                        .addKeyValue("route", route.path())
                        .log("webhooks of this route are verified nowhere:"
                                + " the server that stores them gets no secrets without verify.shareWithServer"));
        watching.update(told.files.isEmpty()
                ? Disposables.disposed()
                : told.secrets.watch(() -> secretsChanged(told)));
    }

    private static boolean isKeptFromTheServer(RouteConfig.@Nullable Verify verify) {
        return verify != null && !verify.shareWithServer();
    }

    private void secretsChanged(Told told) {
        try {
            byte[] written = told.write();
            synchronized (this) {
                if (current != told) {
                    return;
                }
                document = written;
            }
            log.atInfo().log("secrets of webhooks have changed; announced to the server");
            changed.run();
        } catch (ConfigException tooMuch) {
            log.atError()
                    .addKeyValue("reason", tooMuch.getMessage())
                    .log("secrets of webhooks have changed; not announced to the server");
        }
    }

    /** Stops watching the files. */
    void close() {
        watching.dispose();
    }
}
