package dev.culvert.dist;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.TreeMap;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Collects the licences of an installation: NOTICE lists each library with its licence, as the bill of
 * materials names it, and those that the build has changed; the folder {@code licenses} holds the texts that
 * the jars bring along, and those of {@code src/main/licenses}, which theirs do not.
 */
final class Licences {
    private static final Pattern TEXT = Pattern
            .compile(
                    "(META-INF/((maven|license|resources/webjars)/(.*/)?)?)?[^/]*(LICEN[CS]E|NOTICE|COPYING|COPYRIGHT|about\\.html)[^/]*",
                    Pattern.CASE_INSENSITIVE);

    private final Path installation;
    private final BillOfMaterials bill;

    Licences(Path installation, BillOfMaterials bill) {
        this.installation = installation;
        this.bill = bill;
    }

    /** Writes both. Throws IOException if a jar can't be read. */
    void write() throws IOException {
        Files.writeString(installation.resolve("NOTICE"), notice());
        try (Stream<Path> files = Files.walk(installation.resolve("lib"))) {
            for (Path jar : files.filter(file -> file.toString().endsWith(".jar")).sorted().toList()) {
                copyTexts(jar);
            }
        }
    }

    private String notice() throws IOException {
        var lines = new TreeMap<String, String>();
        for (JsonNode library : bill.libraries()) {
            String name = library.path("group").asText() + ":" + library.path("name").asText() + " "
                    + library.path("version").asText();
            lines.put(name, String.join(" or ", licences(library)));
        }
        var notice = new StringBuilder("Culvert\nApache-2.0, see LICENSE.\n\nIt contains:\n\n");
        lines.forEach(
                (name, licence) -> notice.append(String.format(Locale.ROOT, "%-72s %s%n", name, licence)));
        notice.append("\nThe build has changed:\n\n");
        BillOfMaterials.changes().forEach(change -> notice.append(change).append('\n'));
        return notice.append("""

                The texts of their licences, as these libraries bring them along, are in the folder licenses.
                That of those with Apache-2.0 is in LICENSE. The source of logback (EPL-2.0) is at
                https://github.com/qos-ch/logback.
                The folder runtime, where there is one, is OpenJDK (GPL-2.0 with the Classpath exception):
                its licences are in runtime/legal.
                """).toString();
    }

    private static List<String> licences(JsonNode library) {
        List<String> names = new ArrayList<>();
        for (JsonNode licence : library.path("licenses")) {
            JsonNode one = licence.path("license");
            names.add(licence.path("expression").asText(one.path("id").asText(one.path("name").asText())));
        }
        return names.isEmpty() ? List.of("see its text") : names;
    }

    private void copyTexts(Path jar) throws IOException {
        String name = String.valueOf(jar.getFileName()).replaceAll("\\.jar$", "");
        Path folder = installation.resolve("licenses").resolve(name);
        try (var file = new JarFile(jar.toFile())) {
            for (JarEntry entry : file.stream().filter(Licences::isText).toList()) {
                Files.createDirectories(folder);
                try (var in = file.getInputStream(entry)) {
                    Files.write(
                            folder.resolve(entry.getName().substring(entry.getName().lastIndexOf('/') + 1)),
                            in.readAllBytes());
                }
            }
        }
    }

    private static boolean isText(JarEntry entry) {
        return !entry.isDirectory() && TEXT.matcher(entry.getName()).matches()
                && !entry.getName().endsWith(".class");
    }
}
