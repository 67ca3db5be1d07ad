package dev.culvert.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** What documents name in code style: each class, each test and each method of a test exists. */
class DocumentNamesTest {
    private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();
    /** {@code Name}, {@code Name.member}, or {@code .member} of the test that was named before. */
    private static final Pattern NAME = Pattern.compile("`([A-Z]\\w*)?(?:\\.([a-z]\\w+))?(?:\\(\\))?`");
    /** Names of two words at least; one word may be anything's. */
    private static final Pattern CLASS = Pattern.compile("(?:[A-Z][a-z0-9]+){2,}|[A-Za-z0-9]+(?:Test|IT)");
    private static final Pattern TEST = Pattern.compile("\\w+(?:Test|IT)");
    private static final Pattern DECLARATION = Pattern
            .compile("\\b(?:class|record|interface|enum)\\s+([A-Z]\\w*)");
    /** Names that are not ours: of the JDK, of libraries, of HTTP fields and of Git's protocol. */
    private static final Set<String> FOREIGN = Set.of("ObjectMapper", "RateLimit", "ReceivePack",
            "ServiceLoader", "StepVerifier", "UploadPack", "RESUBMIT");

    /** The text of the file of each class. */
    private static final Map<String, String> SOURCES = new HashMap<>();

    @BeforeAll
    static void readSources() throws IOException {
        for (Path file : files(path -> path.toString().endsWith(".java"))) {
            String text = Files.readString(file);
            Matcher declared = DECLARATION.matcher(text);
            while (declared.find()) {
                SOURCES.putIfAbsent(declared.group(1), text);
            }
            String name = Objects.requireNonNull(file.getFileName()).toString();
            SOURCES.put(name.substring(0, name.length() - ".java".length()), text);
        }
    }

    @Test
    void everyClassAndTestThatADocumentNamesExists() throws IOException {
        List<String> missing = new ArrayList<>();
        Set<String> foreign = new TreeSet<>(FOREIGN);
        for (Path document : files(path -> path.toString().endsWith(".md"))) {
            String test = null;
            for (String line : Files.readAllLines(document)) {
                Matcher named = NAME.matcher(line);
                while (named.find()) {
                    String type = named.group(1);
                    foreign.remove(String.valueOf(type));
                    if (isMissing(type, named.group(2), test)) {
                        missing.add(ROOT.relativize(document) + ": " + named.group());
                    }
                    test = type == null ? test : type;
                }
            }
        }

        assertThat(missing).isEmpty();
        assertThat(foreign).as("names that no document has any more").isEmpty();
    }

    /** @param test the class that was named before */
    private static boolean isMissing(@Nullable String type, @Nullable String member, @Nullable String test) {
        if (type != null && !SOURCES.containsKey(type)) {
            return CLASS.matcher(type).matches() && !FOREIGN.contains(type);
        }
        String owner = type == null ? test : type;
        return owner != null && member != null && TEST.matcher(owner).matches()
                && !Pattern.compile("\\b" + member + "\\b")
                        .matcher(SOURCES.getOrDefault(owner, ""))
                        .find();
    }

    private static List<Path> files(Predicate<Path> which) throws IOException {
        try (Stream<Path> all = Files.walk(ROOT)) {
            return all.filter(file -> !file.toString().contains("/target/")
                    && !file.toString().contains("/node_modules/")).filter(which).toList();
        }
    }
}
