package dev.culvert.e2e;

import com.tngtech.archunit.core.domain.Dependency;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ConditionEvents;
import com.tngtech.archunit.lang.SimpleConditionEvent;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Who may import whom: one row a package, as in the table of the architecture. Of our own packages a package sees
 * itself and the ones of its row; a row may also close the list of other libraries.
 */
final class AllowedImports extends ArchCondition<JavaClass> {
    private static final String ROOT = "dev.culvert.";

    private final Map<String, Row> rows = new HashMap<>();

    /** What one package may see; {@code libraries} null: any. */
    private record Row(Set<String> own, @Nullable List<String> libraries) {}

    AllowedImports() {
        super("import only what their package's row allows");
    }

    /** A package that may see these of our packages, and any library. */
    AllowedImports row(String name, String... own) {
        rows.put(name, new Row(Set.of(own), null));
        return this;
    }

    /** Closes the list of libraries of a package: prefixes of names, beside {@code java.} and the annotations. */
    AllowedImports libraries(String name, String... prefixes) {
        Row row = rows.get(name);
        if (row == null) {
            throw new IllegalArgumentException("no row for " + name);
        }
        rows.put(name, new Row(row.own, List.of(prefixes)));
        return this;
    }

    Set<String> packages() {
        Set<String> names = new HashSet<>();
        rows.keySet().forEach(name -> names.add(ROOT + name));
        return names;
    }

    @Override
    public void check(JavaClass type, ConditionEvents events) {
        Row row = rows.get(ownName(type));
        if (row == null) {
            events.add(SimpleConditionEvent.violated(type,
                    type.getName() + " is in a package that no row allows anything"));
            return;
        }
        for (Dependency dependency : type.getDirectDependenciesFromSelf()) {
            JavaClass target = dependency.getTargetClass().getBaseComponentType();
            if (!allows(row, type, target)) {
                events.add(SimpleConditionEvent.violated(type, dependency.getDescription()));
            }
        }
    }

    private static boolean allows(Row row, JavaClass from, JavaClass target) {
        String name = target.getName();
        if (target.isPrimitive() || target.getPackageName().equals(from.getPackageName())
                || name.startsWith("java.")) {
            return true;
        }
        if (name.startsWith(ROOT)) {
            return row.own.contains(ownName(target));
        }
        return row.libraries == null || name.startsWith("org.jspecify.")
                || row.libraries.stream().anyMatch(name::startsWith);
    }

    private static String ownName(JavaClass type) {
        return type.getPackageName().substring(ROOT.length());
    }
}
