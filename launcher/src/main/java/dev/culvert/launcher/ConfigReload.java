package dev.culvert.launcher;

import dev.culvert.edge.Reason;
import dev.culvert.edge.config.ConfigBinding;
import dev.culvert.edge.config.ConfigErrors;
import dev.culvert.edge.config.ConfigException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.Disposable;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/**
 * Reads a part's file again when its content has changed, or a SIGHUP came, and gives what it says to the part. A file that
 * can't be used changes nothing, and each of its mistakes is logged with file, line and key. The content is looked at, not
 * the file's time: Kubernetes swaps a link in the path. All on a thread of its own.
 */
final class ConfigReload implements Disposable {
    /** Soon enough for a person who waits, and one small read. */
    static final Duration PERIOD = Duration.ofSeconds(1);

    private static final Logger LOG = LoggerFactory.getLogger(ConfigReload.class);
    private static final byte[] ABSENT = {};

    private final Path file;
    private final Supplier<ConfigBinding> read;
    private final BiConsumer<ConfigBinding, String> apply;
    private final Scheduler thread = Schedulers.newSingle("reload", true);
    private byte[] seen = ABSENT;

    private ConfigReload(Path file, Supplier<ConfigBinding> read, BiConsumer<ConfigBinding, String> apply) {
        this.file = file;
        this.read = read;
        this.apply = apply;
        this.seen = content();
    }

    /**
     * Begins to look. Blocks on the disk once.
     *
     * @param read binds the file anew with the same environment and flags
     * @param apply takes what it says, and who changed it; may throw ConfigException or ConfigErrors, and then has changed nothing
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
        HangUp.onSignal(reload::now);
        return reload;
    }

    /** Reads the file, changed or not. Any thread. */
    void now() {
        if (!thread.isDisposed()) {
            thread.schedule(() -> {
                seen = content();
                reload("SIGHUP");
            });
        }
    }

    private void look() {
        byte[] now = content();
        if (!Arrays.equals(now, seen)) {
            seen = now;
            reload(String.valueOf(file.getFileName()));
        }
    }

    private void reload(String origin) {
        try {
            ConfigBinding binding = read.get();
            binding.warnings().forEach(warning -> LOG.atWarn().log(warning));
            apply.accept(binding, origin);
            LOG.atInfo().addKeyValue("file", file).log("configuration taken: routes, policy and addresses");
        } catch (ConfigErrors wrong) {
            wrong.errors().forEach(ConfigReload::refused);
        } catch (ConfigException wrong) {
            refused(file + ": " + wrong.getMessage());
        } catch (RuntimeException e) {
            LOG.atError().setCause(e).addKeyValue("file", file).log("configuration not taken");
        }
    }

    private static void refused(String mistake) {
        LOG.atError().addKeyValue("mistake", mistake).log("configuration not taken, the old one holds");
    }

    /** A link that is being swapped, or a file that is being replaced, is looked at again in a moment. */
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
        HangUp.onSignal(() -> {});
        thread.dispose();
    }

    @Override
    public boolean isDisposed() {
        return thread.isDisposed();
    }
}
