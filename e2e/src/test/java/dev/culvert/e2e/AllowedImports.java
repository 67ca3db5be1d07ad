package dev.culvert.e2e;

import com.tngtech.archunit.core.domain.Dependency;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ConditionEvents;
import com.tngtech.archunit.lang.SimpleConditionEvent;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Which module may import which, one row a module, named by its root package. Of another module only the packages of its door
 * are seen. A row may also close the list of libraries.
 */
final class AllowedImports extends ArchCondition<JavaClass> {
    private static final String ROOT = "dev.culvert.";

    private final Map<String, Row> rows = new TreeMap<>();

    /**
     * One module.
     *
     * @param modules whose doors it may use
     * @param door packages that others may import
     * @param libraries prefixes of names beside {@code java.}; null: any
     */
    private record Row(Set<String> modules, Set<String> door, @Nullable List<String> libraries) {}

    AllowedImports() {
        super("import only what their module's row allows");
    }

    /** A module that may use these modules, words apart. Its door is its root package until it is given another. */
    AllowedImports module(String name, String modules) {
        rows.put(name, new Row(words(modules), Set.of(name), null));
        return this;
    }

    /** Packages of a module that others may import: names behind the module's, {@code .} for its root package. */
    AllowedImports door(String name, String packages) {
        Row row = row(name);
        Set<String> door = new HashSet<>();
        words(packages).forEach(one -> door.add(one.equals(".") ? name : name + "." + one));
        rows.put(name, new Row(row.modules, door, row.libraries));
        return this;
    }

    /** Closes the list of a module's libraries. */
    AllowedImports libraries(String name, String prefixes) {
        Row row = row(name);
        rows.put(name, new Row(row.modules, row.door, List.copyOf(words(prefixes))));
        return this;
    }

    private Row row(String name) {
        return Objects.requireNonNull(rows.get(name), name);
    }

    private static Set<String> words(String text) {
        return text.isEmpty() ? Set.of() : Set.copyOf(Arrays.asList(text.split(" +")));
    }

    /** All packages of all doors. */
    Set<String> doors() {
        Set<String> doors = new TreeSet<>();
        rows.values().forEach(row -> row.door.forEach(one -> doors.add(ROOT + one)));
        return doors;
    }

    /** The module of a package of ours; null: of none. */
    @Nullable
    String moduleOf(String packageName) {
        String name = packageName.substring(ROOT.length());
        while (!rows.containsKey(name) && name.contains(".")) {
            name = name.substring(0, name.lastIndexOf('.'));
        }
        return rows.containsKey(name) ? name : null;
    }

    @Override
    public void check(JavaClass type, ConditionEvents events) {
        String module = moduleOf(type.getPackageName());
        if (module == null) {
            events.add(SimpleConditionEvent.violated(type, type.getName() + " is in a module without a row"));
            return;
        }
        for (Dependency dependency : type.getDirectDependenciesFromSelf()) {
            JavaClass target = dependency.getTargetClass().getBaseComponentType();
            if (!target.isPrimitive() && !allows(module, target)) {
                events.add(SimpleConditionEvent.violated(type, dependency.getDescription()));
            }
        }
    }

    private boolean allows(String module, JavaClass target) {
        Row row = row(module);
        String name = target.getName();
        if (name.startsWith(ROOT)) {
            String other = moduleOf(target.getPackageName());
            return other != null && (other.equals(module) || row.modules.contains(other)
                    && row(other).door.contains(target.getPackageName().substring(ROOT.length())));
        }
        return row.libraries == null || name.startsWith("java.") || name.startsWith("org.jspecify.")
                || row.libraries.stream().anyMatch(name::startsWith);
    }
}
