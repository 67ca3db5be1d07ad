package dev.culvert.helm;

import com.marcnuri.helm.Helm;
import com.marcnuri.helm.LintResult;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;

/** The chart {@code culvert}, as Helm's own library renders it for release {@code try} in namespace {@code culvert}. */
final class Chart {
    static final Path FOLDER = Path.of("culvert");
    static final String NAMESPACE = "culvert";

    private static final AtomicBoolean COPIED = new AtomicBoolean();
    private static final Path RENDERED = Path.of("target", "chart");

    private Chart() {}

    static LintResult lint() {
        return new Helm(FOLDER).lint().strict().quiet().call();
    }

    /** The documents of a rendering. Fails with Helm's message. */
    static String render(Map<String, Object> values) throws IOException {
        Path file = Files.createTempFile("values", ".yaml");
        try {
            Files.writeString(file, Yaml.text(values));
            return new Helm(withoutHooks()).template()
                    .withName("try")
                    .withNamespace(NAMESPACE)
                    .withKubeVersion("1.32.0")
                    .withValuesFile(file)
                    .call();
        } finally {
            Files.delete(file);
        }
    }

    /** A copy whose hooks are objects as others: the library renders no hooks. */
    private static synchronized Path withoutHooks() throws IOException {
        if (!COPIED.getAndSet(true)) {
            try (Stream<Path> all = Files.walk(FOLDER)) {
                for (Path file : all.filter(Files::isRegularFile).toList()) {
                    Path copy = RENDERED.resolve(FOLDER.relativize(file));
                    Files.createDirectories(copy.getParent());
                    Files.writeString(copy,
                            Files.readString(file).replace("helm.sh/hook", "example.com/hook"));
                }
            }
        }
        return RENDERED;
    }

    static List<String> documents(String rendered) {
        return Arrays.stream(rendered.split("(?m)^---\\s*$"))
                .filter(text -> text.lines().anyMatch(line -> !line.isBlank() && !line.startsWith("#")))
                .toList();
    }

    static List<HasMetadata> objects(Mode mode) throws IOException {
        return objects(mode.tree());
    }

    static List<HasMetadata> objects(Map<String, Object> values) throws IOException {
        return documents(render(values)).stream().map(Chart::object).toList();
    }

    static HasMetadata object(String document) {
        return new KubernetesSerialization().unmarshal(document);
    }

    /** The objects of a type. */
    static <T> List<T> all(List<HasMetadata> objects, Class<T> type) {
        return objects.stream().filter(type::isInstance).map(type::cast).toList();
    }
}
