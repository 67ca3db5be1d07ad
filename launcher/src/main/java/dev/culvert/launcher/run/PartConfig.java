package dev.culvert.launcher.run;

import dev.culvert.config.ConfigBinder;
import dev.culvert.config.ConfigBinding;
import dev.culvert.config.ConfigSources;
import dev.culvert.config.SettingInfo;
import dev.culvert.config.yaml.YamlFile;
import dev.culvert.launcher.logging.LogSettings;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The configuration of one service: its own record and {@link LogSettings}, from a file, the environment and
 * flags.
 *
 * @param type the record of the service
 */
public record PartConfig(Class<? extends Record> type) {
    /**
     * Variables that the launcher itself reads, which are never reported as unknown. A part whose
     * key looks like one says so, because none of them sets a key.
     */
    private static final List<String> LAUNCHER_VARIABLES = List.of("CULVERT_CONFIG", "CULVERT_JAVA_OPTS",
            "CULVERT_SCHEDULING",
            "CULVERT_ADMIN", "CULVERT_ADMIN_TOKEN_FILE", "CULVERT_ADMIN_CA", "CULVERT_OUTPUT",
            "CULVERT_HOME", "CULVERT_CLASS_PATH", "CULVERT_CONTROL_PLANE", "CULVERT_API_KEY_FILE");

    /** All settings in the order of the documentation. */
    public List<SettingInfo> settings() {
        return ConfigBinder.settings(types());
    }

    /**
     * Reads and binds the configuration. Blocks on the disk.
     *
     * @throws dev.culvert.config.ConfigErrors that lists all errors
     */
    public ConfigBinding load(@Nullable Path file, Map<String, String> environment,
            Map<String, String> flags) {
        var variables = new HashMap<>(environment);
        var lookalikes = settings().stream().map(SettingInfo::variableOfWords).collect(Collectors.toSet());
        LAUNCHER_VARIABLES.stream().filter(name -> !lookalikes.contains(name)).forEach(variables::remove);
        var tree = file == null ? null : YamlFile.read(file);
        return ConfigBinder.bind(new ConfigSources(tree, variables, flags, Map.of()), types());
    }

    /** The effective configuration with the origin of each value, one on each line. Secrets are masked. */
    public static String describe(ConfigBinding binding) {
        int width = binding.effective().stream().mapToInt(entry -> line(entry).length()).max().orElse(0);
        return binding.effective()
                .stream()
                .map(entry -> line(entry)
                        + " ".repeat(Math.max(0, Math.min(width, 60) - line(entry).length())) + "  # "
                        + entry.origin())
                .collect(Collectors.joining("\n"));
    }

    private static String line(ConfigBinding.Effective entry) {
        return entry.key() + ": " + entry.value();
    }

    private List<Class<? extends Record>> types() {
        return List.of(type, LogSettings.class);
    }
}
