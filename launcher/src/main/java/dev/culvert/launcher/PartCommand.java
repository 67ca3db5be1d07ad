package dev.culvert.launcher;

import dev.culvert.edge.config.ConfigBinding;
import dev.culvert.edge.config.SettingInfo;
import dev.culvert.launcher.config.LogSettings;
import dev.culvert.launcher.config.PartConfig;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParseResult;
import reactor.core.publisher.Mono;

/**
 * A command that starts one part and keeps it running. Every setting of the part's record becomes a flag. Prints the
 * ready line when the part listens.
 */
abstract class PartCommand implements Task.LongRunning {
    private static final Logger LOG = LoggerFactory.getLogger(PartCommand.class);

    private final PartConfig config;
    private final AtomicReference<@Nullable RunningPart> running = new AtomicReference<>();
    private Map<String, String> flags = Map.of();

    @Option(names = "--config", paramLabel = "FILE", order = -2, description = "The part's YAML file (CULVERT_CONFIG).")
    private @Nullable Path file;

    @Option(names = "--check-config", order = -1, description = "Print the effective configuration and the origin of each value,"
            + " secrets masked, and end. Files that it names are not opened.")
    private boolean checkConfig;

    PartCommand(Class<? extends Record> type) {
        this.config = new PartConfig(type);
    }

    /** Starts the part. Emits when it listens; errors leave nothing running. */
    abstract Mono<RunningPart> start(ConfigBinding binding);

    /** Called once, before the command line is read. */
    final void addFlags(CommandSpec spec) {
        config.settings()
                .stream()
                .filter(setting -> !setting.fileOnly())
                .forEach(setting -> spec.addOption(flag(setting)));
    }

    /** Called once, after the command line was read. */
    final void readFlags(ParseResult parsed) {
        var given = new LinkedHashMap<String, String>();
        for (SettingInfo setting : config.settings()) {
            if (!setting.fileOnly() && parsed.hasMatchedOption(setting.flag())) {
                String value = parsed.matchedOptionValue(setting.flag(), "");
                given.put(setting.flag(), value);
            }
        }
        flags = given;
    }

    @Override
    public final Mono<Integer> run() {
        return Mono.defer(() -> {
            Map<String, String> environment = System.getenv();
            Path path = file == null && environment.containsKey("CULVERT_CONFIG")
                    ? Path.of(environment.getOrDefault("CULVERT_CONFIG", ""))
                    : file;
            ConfigBinding binding = config.load(path, environment, flags);
            return checkConfig ? check(binding) : serve(binding);
        });
    }

    @Override
    public final Mono<Void> stop(Duration grace) {
        RunningPart part = running.getAndSet(null);
        if (part == null) {
            return Mono.empty();
        }
        LOG.atInfo()
                .addKeyValue("part", part.name())
                .addKeyValue("graceSeconds", grace.toSeconds())
                .log("draining");
        return part.stop()
                .apply(grace)
                .doOnSuccess(done -> LOG.atInfo().addKeyValue("part", part.name()).log("drained"));
    }

    private static Mono<Integer> check(ConfigBinding binding) {
        binding.warnings().forEach(warning -> System.err.println("culvert: " + warning));
        System.out.println(PartConfig.describe(binding));
        return Mono.just(ExitCode.DONE);
    }

    private Mono<Integer> serve(ConfigBinding binding) {
        Logging.toStandardOutput(binding.value(LogSettings.class));
        binding.warnings().forEach(warning -> LOG.atWarn().log(warning));
        return start(binding).onErrorMap(failure -> PortTrouble.explain(failure, binding)).flatMap(part -> {
            running.set(part);
            var facts = new LinkedHashMap<String, Object>();
            facts.put("part", part.name());
            facts.putAll(part.addresses());
            System.out.println(EventLine.of("listening", facts));
            return part.ended().thenReturn(ExitCode.DONE);
        }).onErrorMap(failure -> ValueTrouble.explain(failure, binding));
    }

    private static OptionSpec flag(SettingInfo setting) {
        String fallback = setting.byDefault().isEmpty() ? "" : " Default: " + setting.byDefault() + ".";
        String text = setting.doc() + " (" + setting.type() + ")." + fallback;
        var option = OptionSpec.builder(setting.flag())
                .type(String.class)
                .paramLabel("VALUE")
                .description(text.replace("%", "%%"));
        return setting.isSwitch()
                ? option.arity("0..1").fallbackValue("true").build()
                : option.arity("1").build();
    }
}
