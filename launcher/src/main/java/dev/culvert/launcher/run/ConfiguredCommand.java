package dev.culvert.launcher.run;

import dev.culvert.config.ConfigBinding;
import dev.culvert.config.SettingInfo;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParseResult;

/**
 * A command that reads a service's configuration from its file, the environment and a flag for each setting.
 */
public abstract class ConfiguredCommand implements Task.Reactive {
    private final PartConfig config;
    private Map<String, String> flags = Map.of();

    @Option(names = "--config", paramLabel = "FILE", order = -2, description = "The part's YAML file (CULVERT_CONFIG).")
    private @Nullable Path file;

    public ConfiguredCommand(Class<? extends Record> type) {
        this.config = new PartConfig(type);
    }

    /** Whether a setting applies to this command and is one of its flags. */
    public boolean takes(SettingInfo setting) {
        return true;
    }

    private List<SettingInfo> settings() {
        return config.settings().stream().filter(setting -> !setting.fileOnly() && takes(setting)).toList();
    }

    /** Called once, before the command line is parsed. */
    public final void addFlags(CommandSpec spec) {
        settings().forEach(setting -> spec.addOption(flag(setting)));
    }

    /** Called once, after the command line was parsed. */
    public final void readFlags(ParseResult parsed) {
        var given = new LinkedHashMap<String, String>();
        for (SettingInfo setting : settings()) {
            if (parsed.hasMatchedOption(setting.flag())) {
                String value = parsed.matchedOptionValue(setting.flag(), "");
                given.put(setting.flag(), value);
            }
        }
        flags = given;
    }

    /** Reads the configuration. Throws {@link dev.culvert.config.ConfigErrors}. */
    public final ConfigBinding binding() {
        return config.load(file(), System.getenv(), flags);
    }

    /** The file that the user named, or null. */
    final @Nullable Path file() {
        Map<String, String> environment = System.getenv();
        return file == null && environment.containsKey("CULVERT_CONFIG")
                ? Path.of(environment.getOrDefault("CULVERT_CONFIG", ""))
                : file;
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
