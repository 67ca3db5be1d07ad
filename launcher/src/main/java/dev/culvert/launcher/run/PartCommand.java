package dev.culvert.launcher.run;

import dev.culvert.config.ConfigBinding;
import dev.culvert.launcher.logging.LogSettings;
import dev.culvert.launcher.logging.Logging;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import picocli.CommandLine.Option;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Mono;

/**
 * A command that starts one service and keeps it running. Every setting of the service's record is a flag.
 * Prints the ready line when the service listens, and notifies the service manager.
 */
public abstract class PartCommand extends ConfiguredCommand implements Task.LongRunning {
    private static final Logger LOG = LoggerFactory.getLogger(PartCommand.class);

    private final AtomicReference<@Nullable RunningPart> running = new AtomicReference<>();

    private final Disposable.Swap watching = Disposables.swap();

    private final ServiceNotifier notifier = ServiceNotifier.ofEnvironment();

    @Option(names = "--check-config", order = -1, description = "Print the effective configuration and the origin of each value,"
            + " secrets masked, and end. Files that it names are not opened.")
    private boolean checkConfig;

    public PartCommand(Class<? extends Record> type) {
        super(type);
    }

    /** Starts the service. Emits when it listens. After an error no component is left running. */
    public abstract Mono<RunningPart> start(ConfigBinding binding);

    /**
     * Checks settings that only the service knows. Opens no file. Throws {@link
     * dev.culvert.config.ConfigErrors}.
     */
    public void check(ConfigBinding binding) {}

    @Override
    public final Mono<Integer> run() {
        return Mono.defer(() -> {
            ConfigBinding binding = binding();
            return checkConfig ? describe(binding) : serve(binding);
        });
    }

    @Override
    public final Mono<Void> stop(Duration grace) {
        RunningPart part = running.getAndSet(null);
        watching.dispose();
        if (part == null) {
            return Mono.empty();
        }
        notifier.stopping();
        LOG.atInfo()
                .addKeyValue("part", part.name())
                .addKeyValue("graceSeconds", grace.toSeconds())
                .log("draining");
        return part.stop()
                .apply(grace)
                .doOnError(error -> LOG.atError()
                        .setCause(error)
                        .addKeyValue("part", part.name())
                        .log("drain failed"))
                .doOnSuccess(done -> LOG.atInfo().addKeyValue("part", part.name()).log("drained"));
    }

    private Mono<Integer> describe(ConfigBinding binding) {
        check(binding);
        binding.warnings().forEach(warning -> System.err.println("culvert: " + warning));
        System.out.println(PartConfig.describe(binding));
        return Mono.just(ExitCode.DONE);
    }

    private void watch(RunningPart part) {
        Path file = file();
        if (file != null && part.reload() != null) {
            watching.update(ConfigReload.start(file, this::binding, part.reload()));
        }
    }

    private Mono<Integer> serve(ConfigBinding binding) {
        Logging.toStandardOutput(binding.value(LogSettings.class));
        binding.warnings().forEach(warning -> LOG.atWarn().log(warning));
        return start(binding).onErrorMap(failure -> BindErrorHint.explain(failure, binding)).flatMap(part -> {
            running.set(part);
            watch(part);
            var facts = new LinkedHashMap<String, Object>();
            facts.put("part", part.name());
            facts.putAll(part.addresses());
            System.out.println(EventLine.of("listening", facts));
            notifier.ready();
            return part.ended().thenReturn(ExitCode.DONE);
        }).onErrorMap(failure -> ValueProblem.explain(failure, binding));
    }
}
