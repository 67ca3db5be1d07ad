package dev.culvert.helm;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Schema, defaults and templates of the chart know the same values. */
class ChartValuesTest {
    /** So that few renderings are needed. */
    private static final List<Mode> MAX_FIRST = Stream.concat(
            Stream.of(Mode.EVERYTHING, Mode.INGRESS, Mode.VOLUMES), Stream.of(Mode.values()))
            .distinct()
            .toList();
    private static final Pattern REFERENCE = Pattern.compile(
            "(?:index \\.(?:root\\.)?Values (?:\"([a-z-]+)\")|\\.Values|\\$(client|router|proxy|server|runtime|argo)\\b|\\.values)((?:\\.[A-Za-z]+)*)");
    private static final Map<String, String> VARIABLES = Map.of("client", "tunnel-client", "router",
            "internal-router", "proxy", "app-proxy", "server", "server", "runtime", "global.runtime", "argo",
            "global.integrations.argo-cd");

    /** Changing a value to the example of its schema changes what is rendered, in some mode. */
    @Test
    void everyValueOfTheSchemaIsUsed() throws IOException {
        var usual = new EnumMap<Mode, String>(Mode.class);
        for (Mode mode : Mode.values()) {
            usual.put(mode, Chart.render(mode.tree()));
        }
        var unused = new ArrayList<String>();
        for (Value value : values()) {
            if (!used(value, usual)) {
                unused.add(String.join(".", value.path()));
            }
        }

        assertThat(unused).isEmpty();
    }

    @Test
    void everyValueOfTheSchemaHasADefault() throws IOException {
        Map<String, Object> defaults = Yaml.map(Chart.FOLDER.resolve("values.yaml"));

        assertThat(values()).allSatisfy(value -> {
            Map<String, Object> parent = defaults;
            for (String key : value.path().subList(0, value.path().size() - 1)) {
                assertThat(parent).as("%s", value.path()).containsKey(key);
                parent = Yaml.child(parent, key);
            }
            assertThat(parent).as("%s", value.path()).containsKey(value.path().getLast());
        });
    }

    @Test
    void everyValueOfATemplateIsInTheSchema() throws IOException {
        var known = new TreeSet<String>();
        for (Value value : values()) {
            for (int length = 1; length <= value.path().size(); length++) {
                known.add(String.join(".", value.path().subList(0, length)));
            }
            value.fields().forEach(field -> known.add(String.join(".", value.path()) + "." + field));
        }
        var unknown = new TreeMap<String, String>();
        for (Path template : templates()) {
            REFERENCE.matcher(Files.readString(template)).results().forEach(match -> {
                String variable = match.group(2) == null ? "" : VARIABLES.getOrDefault(match.group(2), "");
                String first = match.group(1) != null ? match.group(1) : variable;
                // What a part's macro reads is a value of every part; the client's stand for all.
                boolean shared = match.group().startsWith(".values");
                String name = ((shared ? "tunnel-client" : first) + match.group(3)).replaceFirst("^\\.", "");
                if (!name.isEmpty() && !known.contains(name)) {
                    unknown.put(name, template + ": " + match.group());
                }
            });
        }

        assertThat(unknown).isEmpty();
    }

    @Test
    void theVersionIsThatOfTheBuild() throws IOException {
        String pom = Files.readString(Path.of("..", "..", "pom.xml"));
        for (String chart : List.of("culvert", "platform")) {
            Map<String, Object> about = Yaml.map(Path.of(chart, "Chart.yaml"));
            assertThat(pom).contains("<revision>" + about.get("version") + "</revision>");
            assertThat(about.get("appVersion")).isEqualTo(about.get("version"));
        }
    }

    /** A value of the schema: one with an example. Its fields are those of a reference to a secret. */
    private record Value(List<String> path, Object example, Set<String> fields) {}

    private static boolean used(Value value, Map<Mode, String> usual) throws IOException {
        for (Mode mode : MAX_FIRST) {
            Map<String, Object> values = mode.tree();
            Yaml.set(values, value.path(), value.example());
            try {
                if (!Chart.render(values).equals(usual.get(mode))) {
                    return true;
                }
            } catch (RuntimeException refused) {
                // Refused by a rule of the templates, which names the value or its parent.
                String text = String.valueOf(refused.getMessage());
                String parent = String.join(".", value.path().subList(0, value.path().size() - 1));
                if (text.contains(parent) && !text.contains("schema")) {
                    return true;
                }
            }
        }
        return false;
    }

    private static List<Value> values() throws IOException {
        Map<String, Object> schema = Yaml.map(Chart.FOLDER.resolve("values.schema.json"));
        var found = new ArrayList<Value>();
        collect(Yaml.child(schema, "definitions"), List.of(), schema, found);
        assertThat(found).hasSizeGreaterThan(100);
        return found;
    }

    private static void collect(Map<String, Object> definitions, List<String> path,
            Map<String, Object> schema,
            List<Value> found) {
        Map<String, Object> here = schema;
        if (schema.get("$ref") instanceof String reference) {
            here = Yaml.child(definitions, reference.substring(reference.lastIndexOf('/') + 1));
        }
        assertThat(here).as("%s has a text", path).containsKey("description");
        if (here.get("examples") instanceof List<?> examples) {
            Set<String> fields = here.containsKey("properties")
                    ? Yaml.child(here, "properties").keySet()
                    : Set.of();
            found.add(new Value(path, examples.getFirst(), fields));
            return;
        }
        assertThat(here).as("%s is closed, or has an example", path)
                .containsKeys("properties", "additionalProperties");
        for (var child : new LinkedHashMap<>(Yaml.child(here, "properties")).keySet()) {
            var longer = Stream.concat(path.stream(), Stream.of(child)).toList();
            collect(definitions, longer, Yaml.child(Yaml.child(here, "properties"), child), found);
        }
    }

    private static List<Path> templates() throws IOException {
        try (Stream<Path> files = Files.walk(Chart.FOLDER.resolve("templates"))) {
            return files.filter(Files::isRegularFile).toList();
        }
    }
}
