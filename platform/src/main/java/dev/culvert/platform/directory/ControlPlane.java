package dev.culvert.platform.directory;

import dev.culvert.certs.AtomicFile;
import dev.culvert.certs.TlsContexts;
import dev.culvert.edge.AuditTrail;
import dev.culvert.edge.EdgeServer;
import dev.culvert.edge.EventLoops;
import dev.culvert.edge.HealthFilter;
import dev.culvert.edge.Readiness;
import dev.culvert.edge.Telemetry;
import dev.culvert.edge.config.ConfigException;
import dev.culvert.edge.config.HostPort;
import io.netty.handler.ssl.SslContext;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/**
 * A running control plane: the directory behind one listener, with {@code /healthz}, {@code /readyz}, {@code /metrics}.
 * Safe for use by any thread.
 */
public final class ControlPlane {
    private static final Logger log = LoggerFactory.getLogger(ControlPlane.class);

    private final Parts parts;
    private final EdgeServer server;

    private ControlPlane(Parts parts, EdgeServer server) {
        this.parts = parts;
        this.server = server;
    }

    /**
     * Starts everything; an empty database gets its first administrator. Errors: {@link dev.culvert.edge.ListenException},
     * {@link dev.culvert.edge.sqlite.StoreException}, {@link dev.culvert.certs.CertsException}, {@link ConfigException};
     * then nothing is left running.
     */
    public static Mono<ControlPlane> start(ControlPlaneConfig config) {
        return Directory
                .open(config.dataDir().resolve("directory.db"), DirectoryLimits.defaults(), Clock.systemUTC())
                .flatMap(directory -> Parts.of(config, directory)
                        .flatMap(parts -> parts.begin(config)
                                .map(server -> new ControlPlane(parts, server))
                                .onErrorResume(failed -> parts.free(Duration.ZERO).then(Mono.error(failed))))
                        .onErrorResume(failed -> directory.close().then(Mono.error(failed))));
    }

    /** Where it listens, with the port that was picked. */
    public HostPort address() {
        return server.address();
    }

    /** Never emits; fails when another process took the database. */
    public Mono<Void> lost() {
        return parts.directory.lost();
    }

    /** Drains within {@code grace}, then frees everything. Completes when that is done. */
    public Mono<Void> stop(Duration grace) {
        return Mono.defer(() -> {
            parts.readiness.set(Readiness.notReady("draining"));
            return server.stop(grace).then(parts.free(grace)).then(parts.directory.close());
        });
    }

    /** What lives as long as the control plane. */
    private record Parts(Directory directory, EventLoops loops, Telemetry telemetry, AuditTrail audit,
            Nudges nudges,
            @Nullable SslContext tls, AtomicReference<Readiness> readiness) {

        static Mono<Parts> of(ControlPlaneConfig config, Directory directory) {
            return Mono.fromCallable(() -> {
                ControlPlaneConfig.Tls files = config.tls();
                SslContext tls = files == null ? null : TlsContexts.edge(files.files().load(), List.of());
                EventLoops loops = EventLoops.create();
                try {
                    return new Parts(directory, loops, new Telemetry(),
                            AuditTrail.in(config.dataDir(), Clock.systemUTC()),
                            new Nudges(directory, loops, config.nudge().ca()), tls,
                            new AtomicReference<>(Readiness.READY));
                } catch (RuntimeException failed) {
                    loops.dispose();
                    throw failed;
                }
            }).subscribeOn(Schedulers.boundedElastic());
        }

        Mono<EdgeServer> begin(ControlPlaneConfig config) {
            directory.onChange(nudges::changed);
            var setup = EdgeServer.Setup.of(config.listen(), loops)
                    .telemetry(telemetry)
                    .filter(new HealthFilter(readiness::get, telemetry));
            var handler = new ControlPlaneHandler(directory, audit,
                    new AllowedOrigins(config.nudge().allow()));
            return directory.bootstrap(config.firstAccount(), key -> keep(key, config.adminKey()))
                    .then(EdgeServer.start(tls == null ? setup : setup.tls(tls), handler));
        }

        Mono<Void> free(Duration grace) {
            return nudges.close()
                    .then(audit.close())
                    .then(Mono.<Void>fromRunnable(telemetry::close))
                    .then(loops.disposeLater(Duration.ZERO, grace));
        }
    }

    private static void keep(KeyText first, Path file) {
        try {
            Path folder = file.toAbsolutePath().getParent();
            if (folder != null) {
                Files.createDirectories(folder);
            }
            AtomicFile.write(file, (first.reveal() + "\n").getBytes(StandardCharsets.US_ASCII), "rw-------");
            log.atInfo().addKeyValue("file", file).log("key of the first administrator written");
        } catch (IOException e) {
            throw new ConfigException("adminKeyFile", "a file that can be written");
        }
    }
}
