package dev.culvert.launcher.run;

import dev.culvert.certs.CertsException;
import dev.culvert.config.ConfigBinding;
import dev.culvert.config.ConfigErrors;
import dev.culvert.config.ConfigException;
import dev.culvert.config.Reason;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.Disposable;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/**
 * Reloads a service's configuration file when its content has changed or on SIGHUP, and applies it to the
 * service. An invalid file changes nothing. Each of its errors is logged with file, line and key. The file is
 * retried periodically, because the cause may disappear (a missing certificate file), and new errors are
 * logged. Changes are detected by content and not by modification time, because Kubernetes replaces a link in
 * the path. All work runs on a separate thread.
 */
final class ConfigReload implements Disposable {
    /** The interval of checks: soon enough for a waiting person, and only one small read. */
    static final Duration PERIOD = Duration.ofSeconds(1);

    /**
     * The number of checks between two retries, which gives 10 s with {@link #PERIOD}. Other programs write
     * the files that the configuration names.
     */
    private static final int LOOKS_BETWEEN_TRIES = 10;

    private static final Logger LOG = LoggerFactory.getLogger(ConfigReload.class);
    private static final byte[] ABSENT = {};

    private final Path file;
    private final Supplier<ConfigBinding> read;
    private final BiConsumer<ConfigBinding, String> apply;
    private final Scheduler thread = Schedulers.newSingle("reload", true);
    private byte[] seen = ABSENT;
    /** The errors of the configuration that is being retried; empty if there is none. */
    private List<String> mistakes = List.of();
    private String origin = "";
    private int looks;

    private ConfigReload(Path file, Supplier<ConfigBinding> read, BiConsumer<ConfigBinding, String> apply) {
        this.file = file;
        this.read = read;
        this.apply = apply;
        this.seen = content();
    }

    /**
     * Starts the checks. Blocks on the disk once.
     *
     * @param read binds the file again with the same environment and flags
     * @param apply applies the configuration, with the origin of the change; may throw ConfigException,
     *     ConfigErrors or CertsException, and then has changed nothing
     */
    static ConfigReload start(Path file, Supplier<ConfigBinding> read,
            BiConsumer<ConfigBinding, String> apply) {
        return start(file, read, apply, PERIOD);
    }

    static ConfigReload start(Path file, Supplier<ConfigBinding> read,
            BiConsumer<ConfigBinding, String> apply, Duration period) {
        ConfigReload reload = new ConfigReload(file, read, apply);
        reload.thread.schedulePeriodically(reload::look, period.toMillis(), period.toMillis(),
                TimeUnit.MILLISECONDS);
        SighupHandler.onSignal(reload::now);
        return reload;
    }

    /** Reloads the file even if it is unchanged. Callable from any thread. */
    void now() {
        if (!thread.isDisposed()) {
            thread.schedule(() -> {
                seen = content();
                begin("SIGHUP");
            });
        }
    }

    private void look() {
        byte[] now = content();
        if (!Arrays.equals(now, seen)) {
            seen = now;
            begin(String.valueOf(file.getFileName()));
        } else if (!mistakes.isEmpty()) {
            looks++;
            if (looks >= LOOKS_BETWEEN_TRIES) {
                reload();
            }
        }
    }

    private void begin(String by) {
        origin = by;
        mistakes = List.of();
        reload();
    }

    private void reload() {
        looks = 0;
        try {
            ConfigBinding binding = read.get();
            apply.accept(binding, origin);
            mistakes = List.of();
            binding.warnings().forEach(warning -> LOG.atWarn().log(warning));
            LOG.atInfo().addKeyValue("file", file).log("configuration applied: routes, policy and addresses");
        } catch (ConfigErrors wrong) {
            refused(wrong.errors(), null);
        } catch (ConfigException | CertsException wrong) {
            refused(List.of(file + ": " + wrong.getMessage()), null);
        } catch (RuntimeException e) {
            refused(List.of(file + ": " + e), e);
        }
    }

    private void refused(List<String> found, @Nullable Throwable unexpected) {
        if (!found.equals(mistakes)) {
            mistakes = found;
            found.forEach(mistake -> LOG.atError()
                    .setCause(unexpected)
                    .addKeyValue("mistake", mistake)
                    .log("configuration not applied; the previous one stays in effect"));
        }
    }

    /** The content of the file. A link or file that is being replaced is read again at the next check. */
    private byte[] content() {
        try {
            return Files.readAllBytes(file);
        } catch (IOException e) {
            LOG.atDebug().addKeyValue("reason", Reason.of(e)).log("configuration file not read");
            return seen;
        }
    }

    @Override
    public void dispose() {
        SighupHandler.onSignal(() -> {});
        thread.dispose();
    }

    @Override
    public boolean isDisposed() {
        return thread.isDisposed();
    }
}
