package dev.culvert.platform.directory;

import dev.culvert.certs.AtomicFile;
import dev.culvert.certs.tls.TlsContexts;
import dev.culvert.config.ConfigException;
import dev.culvert.config.HostPort;
import dev.culvert.handlers.server.EdgeServer;
import dev.culvert.handlers.server.HealthFilter;
import dev.culvert.http.net.Cidr;
import dev.culvert.http.net.EventLoops;
import dev.culvert.http.observe.AuditTrail;
import dev.culvert.http.observe.Readiness;
import dev.culvert.http.observe.Telemetry;
import dev.culvert.platform.directory.store.Directory;
import dev.culvert.platform.directory.store.DirectoryLimits;
import dev.culvert.platform.directory.store.KeyText;
import dev.culvert.store.DatabaseProblem;
import dev.culvert.store.SqliteCopy;
import dev.culvert.store.StoreException;
import io.netty.handler.ssl.SslContext;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
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
 * A running control plane: the directory behind one listener, with {@code /healthz}, {@code /readyz}, {@code
 * /metrics}. Callable from any thread.
 */
public final class ControlPlane {
    private static final String FILE = "directory.db";
    private static final Logger log = LoggerFactory.getLogger(ControlPlane.class);

    private final Parts parts;
    private final EdgeServer server;

    private ControlPlane(Parts parts, EdgeServer server) {
        this.parts = parts;
        this.server = server;
    }

    /**
     * Starts the listener and the database. An empty database gets its first administrator. Errors: {@link
     * dev.culvert.http.net.ListenException}, {@link StoreException}, {@link
     * dev.culvert.certs.CertsException}, {@link ConfigException}; after an error nothing is left running.
     */
    public static Mono<ControlPlane> start(ControlPlaneConfig config) {
        return Directory
                .open(config.dataDir().resolve(FILE), DirectoryLimits.defaults(), Clock.systemUTC())
                .flatMap(directory -> Parts.of(config, directory)
                        .flatMap(parts -> parts.begin(config)
                                .map(server -> new ControlPlane(parts, server))
                                .onErrorResume(failed -> parts.free(Duration.ZERO).then(Mono.error(failed))))
                        .onErrorResume(failed -> directory.close().then(Mono.error(failed))));
    }

    /**
     * Writes the present database in {@code dataDir} to a new file, mode 0600. The file is complete, checked
     * and on the disk, or absent. A running control plane is not interrupted. Emits the file. Errors: {@link
     * StoreException}.
     */
    public static Mono<Path> backup(Path dataDir, Path to) {
        Path file = dataDir.resolve(FILE);
        return Mono.fromCallable(() -> {
            SqliteCopy.write(file, to);
            return to;
        })
                .subscribeOn(Schedulers.boundedElastic())
                .onErrorMap(SQLException.class, failed -> DatabaseProblem.of(file, failed))
                .onErrorMap(IOException.class, failed -> DatabaseProblem.of(file, failed));
    }

    /** The address of the listener, with the actual port. */
    public HostPort address() {
        return server.address();
    }

    /** Never emits. Fails when another process has taken over the database. */
    public Mono<Void> lost() {
        return parts.directory.lost();
    }

    /** Drains within {@code grace}, then releases all resources. Completes after that. */
    public Mono<Void> stop(Duration grace) {
        return Mono.defer(() -> {
            parts.readiness.set(Readiness.notReady("draining"));
            return server.stop(grace).then(parts.free(grace)).then(parts.directory.close());
        });
    }

    /** The resources with the lifetime of the control plane. */
    private record Parts(Directory directory, EventLoops loops, Telemetry telemetry, AuditTrail audit,
            ChangeNotifier notifier,
            @Nullable SslContext tls, AtomicReference<Readiness> readiness) {

        static Mono<Parts> of(ControlPlaneConfig config, Directory directory) {
            return Mono.fromCallable(() -> {
                ControlPlaneConfig.Tls files = config.tls();
                SslContext tls = files == null ? null : TlsContexts.edge(files.files().load(), List.of());
                EventLoops loops = EventLoops.create();
                try {
                    return new Parts(directory, loops, new Telemetry(),
                            AuditTrail.in(config.dataDir(), Clock.systemUTC()),
                            new ChangeNotifier(directory, loops, config.nudge().ca()), tls,
                            new AtomicReference<>(Readiness.READY));
                } catch (RuntimeException failed) {
                    loops.dispose();
                    throw failed;
                }
            }).subscribeOn(Schedulers.boundedElastic());
        }

        Mono<EdgeServer> begin(ControlPlaneConfig config) {
            directory.onChange(notifier::changed);
            var setup = EdgeServer.Setup.of(config.listen(), loops)
                    .telemetry(telemetry)
                    .trustedProxies(config.trustedProxies().stream().map(Cidr::parse).toList())
                    .filter(new HealthFilter(readiness::get, telemetry));
            var handler = new ControlPlaneHandler(directory, audit,
                    new AllowedOrigins(config.nudge().allow()));
            return directory.bootstrap(config.firstAccount(), key -> keep(key, config.adminKey()))
                    .then(Mono.<Void>fromRunnable(() -> warnOfKeyFile(config.adminKey()))
                            .subscribeOn(Schedulers.boundedElastic()))
                    .then(EdgeServer.start(tls == null ? setup : setup.tls(tls), handler));
        }

        Mono<Void> free(Duration grace) {
            return notifier.close()
                    .then(audit.close())
                    .then(Mono.<Void>fromRunnable(telemetry::close))
                    .then(loops.disposeLater(Duration.ZERO, grace));
        }
    }

    /**
     * Warns about the file of the first key, which gives access to every account and should not stay there.
     */
    private static void warnOfKeyFile(Path file) {
        if (Files.exists(file)) {
            log.atWarn()
                    .addKeyValue("file", file)
                    .log("the first administrator's key is in a file: keep it elsewhere and delete the file");
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
