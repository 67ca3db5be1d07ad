package dev.culvert.client;

import dev.culvert.client.link.TunnelLinks;
import dev.culvert.http.problem.EdgeException;
import dev.culvert.http.problem.Problem;
import dev.culvert.http.problem.Problem.Cause;
import dev.culvert.http.problem.Problem.Hop;
import dev.culvert.routing.RouterAudit;
import java.io.IOException;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/**
 * Lets the cluster's owner close the tunnel. It takes effect at once, survives restarts, and cannot be undone
 * through the tunnel. Callable from any thread.
 */
final class KillSwitch {
    private static final Logger log = LoggerFactory.getLogger(KillSwitch.class);

    private final TunnelLinks links;
    private final PauseMark mark;
    private final RouterAudit audit;
    /** The final state of the file, regardless of the order of disk writes. */
    private volatile boolean wanted;

    KillSwitch(TunnelLinks links, PauseMark mark, RouterAudit audit) {
        this.links = links;
        this.mark = mark;
        this.audit = audit;
    }

    /** Restores the paused state. Called before the first dial. Blocks on the disk. */
    void remember() {
        if (mark.isThere()) {
            wanted = true;
            links.pause(Duration.ZERO);
        }
    }

    /**
     * Closes the tunnel. Completes when the state is stored. Fails if it holds only until this process ends.
     *
     * @param grace the time in which streams in progress may end
     */
    Mono<Void> pause(String by, Duration grace) {
        return Mono.defer(() -> {
            wanted = true;
            links.pause(grace);
            audit.changed("pause", by, grace.isZero() ? "at once" : "");
            return kept(by, "paused, but a new start of this client would end that");
        });
    }

    /**
     * Dials again. Completes when the state is stored. If it cannot be stored, fails and the client stays
     * paused.
     */
    Mono<Void> resume(String by) {
        return Mono.defer(() -> {
            wanted = false;
            return kept(by, "still paused");
        }).then(Mono.fromRunnable(() -> {
            if (!wanted) {
                links.resume();
                audit.changed("resume", by, "");
            }
        }));
    }

    private Mono<Void> kept(String by, String otherwise) {
        return Mono.<Void>fromCallable(() -> {
            keep(by);
            return null;
        }).subscribeOn(Schedulers.boundedElastic()).onErrorMap(IOException.class, e -> {
            log.atError().addKeyValue("reason", e.toString()).log("identityDir can't be written");
            return new EdgeException(Problem.of(Cause.INTERNAL, Hop.EDGE,
                    otherwise + ": the file paused in identityDir can't be changed"));
        });
    }

    private synchronized void keep(String by) throws IOException {
        if (wanted) {
            mark.put(by);
        } else {
            mark.remove();
        }
    }
}
