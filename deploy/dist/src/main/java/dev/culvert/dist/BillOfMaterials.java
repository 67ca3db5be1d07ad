package dev.culvert.dist;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The bill of materials of an installation. The one of the sources has the hashes of what Maven has loaded;
 * this one has those of the jars that are shipped, and says which the build has changed.
 */
final class BillOfMaterials {
    private static final String OURS = "dev.culvert";
    private static final String UNSIGNED = "repacked without the signature of its classes, whose digests"
            + " a JVM keeps in memory, and with a short manifest; no class is changed (launcher/pom.xml)";
    /** The libraries that the build changes, by name. */
    private static final Map<String, String> CHANGES = new TreeMap<>(Map.of("bcprov-jdk18on", UNSIGNED,
            "bcpkix-jdk18on", UNSIGNED, "bcutil-jdk18on", UNSIGNED, "org.eclipse.jgit", UNSIGNED, "picocli",
            "its classes have the format of Java 8 in place of Java 5, so that an AOT cache takes them"
                    + " (launcher/src/build/UpgradeClasses.java)"));
    private static final Pattern PURL = Pattern.compile("pkg:maven/[^/]+/([^@]+)@([^?]+)(?:\\?(.*))?");
    private static final Pattern CLASSIFIER = Pattern.compile("classifier=([^&]+)");

    private final Path file;
    private final Path libraries;
    private final JsonNode document;

    private BillOfMaterials(Path file, Path libraries, JsonNode document) {
        this.file = file;
        this.libraries = libraries;
        this.document = document;
    }

    static BillOfMaterials of(Path installation) throws IOException {
        Path file = installation.resolve("sbom/culvert.cdx.json");
        return new BillOfMaterials(file, installation.resolve("lib"),
                new JsonMapper().readTree(file.toFile()));
    }

    /** The libraries that were not made here. */
    List<JsonNode> libraries() {
        return components().filter(library -> !library.path("group").asText().equals(OURS)).toList();
    }

    /** Which libraries the build has changed, and how: a line of each. */
    static Stream<String> changes() {
        return CHANGES.entrySet().stream().map(change -> change.getKey() + ": " + change.getValue());
    }

    /**
     * Writes the bill with the hashes of the shipped jars.
     *
     * @throws IllegalStateException if a library is changed of which that is not known
     */
    void write() throws IOException {
        Map<String, Path> jars = jars();
        for (JsonNode each : components().toList()) {
            Path jar = jars.get(jar(each));
            if (jar != null) {
                complete((ObjectNode) each, Sums.of(jar));
            }
        }
        Files.writeString(file,
                new JsonMapper().writerWithDefaultPrettyPrinter().writeValueAsString(document) + "\n");
    }

    private static void complete(ObjectNode component, String sum) {
        if (sum.equals(sum(component))) {
            return;
        }
        component.putArray("hashes").addObject().put("alg", "SHA-256").put("content", sum);
        if (component.path("group").asText().equals(OURS)) {
            return;
        }
        @Nullable
        String change = CHANGES.get(component.path("name").asText());
        if (change == null) {
            throw new IllegalStateException(component.path("purl").asText() + " is not as Maven has it");
        }
        component.putObject("pedigree").put("notes", change);
    }

    private static @Nullable String sum(JsonNode component) {
        for (JsonNode hash : component.path("hashes")) {
            if (hash.path("alg").asText().equals("SHA-256")) {
                return hash.path("content").asText();
            }
        }
        return null;
    }

    private Stream<JsonNode> components() {
        return document.path("components").valueStream();
    }

    private Map<String, Path> jars() throws IOException {
        var jars = new HashMap<String, Path>();
        try (Stream<Path> files = Files.walk(libraries)) {
            files.filter(each -> each.toString().endsWith(".jar"))
                    .forEach(jar -> jars.put(String.valueOf(jar.getFileName()), jar));
        }
        return jars;
    }

    /** The name of the jar of a component. */
    private static String jar(JsonNode component) {
        String purl = component.path("purl").asText();
        Matcher parts = PURL.matcher(purl);
        if (!parts.matches()) {
            throw new IllegalStateException(purl + " is no package URL of Maven");
        }
        Matcher classifier = CLASSIFIER.matcher(parts.group(3) == null ? "" : parts.group(3));
        return parts.group(1) + "-" + parts.group(2) + (classifier.find() ? "-" + classifier.group(1) : "")
                + ".jar";
    }
}
