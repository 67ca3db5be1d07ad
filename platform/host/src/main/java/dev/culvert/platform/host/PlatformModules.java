package dev.culvert.platform.host;

import dev.culvert.config.ConfigErrors;
import dev.culvert.config.ConfigSection;
import dev.culvert.platform.host.spi.PlatformModule;
import dev.culvert.platform.host.spi.TableVersions;
import dev.culvert.platform.host.store.ModuleTables;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import java.util.ServiceLoader;

/**
 * The modules on the class path, by name, with their settings.
 *
 * @param modules in alphabetical order
 * @param settings the bound settings by the module's name
 */
record PlatformModules(List<PlatformModule> modules, Map<String, Record> settings) {
    private static final String GRAPHQL = "graphql";

    PlatformModules {
        modules = List.copyOf(modules);
        settings = Map.copyOf(settings);
    }

    /**
     * Finds the modules and binds their settings. Throws ConfigErrors for settings that are wrong, or of a
     * module that is not there.
     */
    static PlatformModules of(ControlPlaneConfig config) {
        return of(ServiceLoader.load(PlatformModule.class, ControlPlane.class.getClassLoader())
                .stream()
                .map(ServiceLoader.Provider::get)
                .toList(), config);
    }

    static PlatformModules of(List<PlatformModule> found, ControlPlaneConfig config) {
        List<PlatformModule> modules = found.stream()
                .sorted(Comparator.comparing(PlatformModule::name))
                .toList();
        requireNames(modules);
        List<String> names = modules.stream().map(PlatformModule::name).toList();
        List<String> errors = new ArrayList<>();
        config.handlers().forEach((name, section) -> {
            if (!names.contains(name)) {
                errors.add(section.origin() + ": " + section.key()
                        + ": no such module on the class path (expected: one of " + names + ")");
            }
        });
        List<String> limited = new ArrayList<>(names);
        limited.addAll(List.of(ModuleTables.HOST, GRAPHQL));
        config.limits()
                .keySet()
                .stream()
                .filter(name -> !limited.contains(name))
                .forEach(name -> errors
                        .add("limits." + name + ": no such module (expected: one of " + limited + ")"));
        Map<String, Record> settings = new HashMap<>();
        for (PlatformModule module : modules) {
            ConfigSection section = config.handlers()
                    .getOrDefault(module.name(), ConfigSection.empty("handlers." + module.name()));
            try {
                settings.put(module.name(), section.bind(module.settings()));
            } catch (ConfigErrors wrong) {
                errors.addAll(wrong.errors());
            }
        }
        if (!errors.isEmpty()) {
            throw new ConfigErrors(errors);
        }
        return new PlatformModules(modules, settings);
    }

    /** The statements of the modules' tables. */
    ModuleTables tables() {
        SequencedMap<String, TableVersions> tables = new LinkedHashMap<>();
        modules.forEach(module -> tables.put(module.name(), module.tables()));
        return new ModuleTables(tables);
    }

    private static void requireNames(List<PlatformModule> modules) {
        Map<String, PlatformModule> seen = new HashMap<>();
        for (PlatformModule module : modules) {
            String name = module.name();
            if (!name.matches("[a-z][a-z0-9-]{0,40}") || name.equals(GRAPHQL)
                    || name.equals(ModuleTables.HOST)) {
                throw new IllegalArgumentException("module " + module.getClass().getName() + " is named "
                        + name + " (expected: a-z, 0-9 and -, and neither graphql nor platform)");
            }
            PlatformModule other = seen.putIfAbsent(name, module);
            if (other != null) {
                throw new IllegalArgumentException("modules " + other.getClass().getName() + " and "
                        + module.getClass().getName() + " are both named " + name
                        + " (expected: one of them on the class path)");
            }
        }
    }
}
