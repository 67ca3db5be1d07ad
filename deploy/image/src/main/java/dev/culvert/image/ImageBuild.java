package dev.culvert.image;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Writes the image of an installation as an OCI archive. The same content gives the same bytes. Layers, those
 * that change least first: base, Java run-time, libraries of others, stand-ins of the demo, Culvert.
 */
public final class ImageBuild {
    /**
     * The user that parts run as, whom no other system knows: Kubernetes checks that a number is not root's.
     */
    static final String USER = "10001:10001";
    private static final String HOME = "opt/culvert";
    private static final String CONFIG = "application/vnd.oci.image.config.v1+json";
    private static final String MANIFEST = "application/vnd.oci.image.manifest.v1+json";
    private static final String BILL = "application/vnd.cyclonedx+json";
    private static final String EMPTY = "application/vnd.oci.empty.v1+json";
    private static final JsonMapper JSON = new JsonMapper();

    private final Map<String, String> options;
    private final Path installation;
    private final Instant created;

    private ImageBuild(Map<String, String> options) {
        this.options = options;
        this.installation = path("installation");
        this.created = Instant.parse(option("created"));
    }

    /** Takes options as {@code --name value}; the names are those of {@code deploy/image/build}. */
    public static void main(String[] args) throws IOException {
        var options = new TreeMap<String, String>();
        for (int i = 0; i + 1 < args.length; i += 2) {
            options.put(args[i].replaceFirst("^--", ""), args[i + 1]);
        }
        System.out.println(of(options).write());
    }

    static ImageBuild of(Map<String, String> options) {
        return new ImageBuild(options);
    }

    /** Writes the archive and returns the digest of the image's manifest. */
    String write() throws IOException {
        Path work = Files.createTempDirectory(path("output").toAbsolutePath().getParent(), "image");
        try {
            return write(new OciLayout(work, created.getEpochSecond()));
        } finally {
            remove(work);
        }
    }

    private String write(OciLayout layout) throws IOException {
        var layers = new ArrayList<OciLayout.Layer>();
        if (options.containsKey("base-layout")) {
            layers.addAll(base(layout, path("base-layout")));
        } else {
            layers.add(layout
                    .layer(new LayerContent("packages of Debian").tree(path("base"), "", path -> true)));
        }
        for (LayerContent content : content()) {
            layers.add(layout.layer(content));
        }
        OciLayout.Blob config = layout.blob(CONFIG, config(layers));
        ObjectNode manifest = manifest(config);
        layers.forEach(layer -> manifest.withArray("layers").add(layer.blob().descriptor()));
        manifest.set("annotations", JSON.valueToTree(labels()));
        OciLayout.Blob image = layout.blob(MANIFEST, manifest);
        OciLayout.Blob bill = layout.blob(MANIFEST, bill(layout, image));
        String version = option("version");
        layout.archive(
                List.of(named(image, version), named(bill, version + ".sbom").put("artifactType", BILL)),
                path("output"));
        return image.digest();
    }

    private static ObjectNode named(OciLayout.Blob manifest, String name) {
        ObjectNode descriptor = manifest.descriptor();
        descriptor.putObject("annotations").put("org.opencontainers.image.ref.name", name);
        return descriptor;
    }

    private List<LayerContent> content() throws IOException {
        return List.of(
                new LayerContent("the Java run-time").tree(path("runtime"), HOME + "/runtime", path -> true),
                new LayerContent("libraries").tree(installation.resolve("lib"), HOME + "/lib",
                        path -> !ours(path) && !path.startsWith("demo") && !path.startsWith("bench")),
                new LayerContent("stand-ins of culvert demo").tree(installation.resolve("lib"), HOME + "/lib",
                        path -> path.startsWith("demo")),
                new LayerContent("Culvert").tree(installation.resolve("lib"), HOME + "/lib",
                        path -> ours(path) && !path.contains("/"))
                        .tree(installation, HOME,
                                path -> path.matches("(args|licenses|sbom|examples)(/.*)?|LICENSE|NOTICE"))
                        .copy(HOME + "/bin/entry.jar", path("entry"))
                        .plain(HOME + "/bin/entry.args", String.join("\n", "-XX:+UseSerialGC",
                                "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData", "-Xmx16m",
                                "--enable-native-access=ALL-UNNAMED", "-Dculvert.home=/" + HOME, "-cp",
                                "/" + HOME + "/bin/entry.jar", "dev.culvert.image.entry.Entry", ""))
                        // Java reads options and class from the file; the kernel adds its path.
                        .executable("usr/bin/culvert",
                                "#!/" + HOME + "/runtime/bin/java @/" + HOME + "/bin/entry.args\n"));
    }

    private static boolean ours(String path) {
        return path.matches("culvert-[^/]*\\.jar");
    }

    private List<OciLayout.Layer> base(OciLayout layout, Path other) throws IOException {
        JsonNode index = JSON.readTree(other.resolve("index.json").toFile());
        JsonNode manifest = OciLayout.json(other, index.path("manifests").path(0).path("digest").asText());
        JsonNode config = OciLayout.json(other, manifest.path("config").path("digest").asText());
        String architecture = config.path("architecture").asText();
        if (!architecture.equals(option("architecture"))) {
            throw new IOException(
                    other + " is of " + architecture + " (expected: " + option("architecture") + ")");
        }
        var layers = new ArrayList<OciLayout.Layer>();
        for (int i = 0; i < manifest.path("layers").size(); i++) {
            layers.add(new OciLayout.Layer(layout.copy(other, manifest.path("layers").path(i)),
                    config.path("rootfs").path("diff_ids").path(i).asText(), "base"));
        }
        return layers;
    }

    private ObjectNode config(List<OciLayout.Layer> layers) {
        ObjectNode image = JSON.createObjectNode()
                .put("created", created.toString())
                .put("architecture", option("architecture"))
                .put("os", "linux");
        ObjectNode config = image.putObject("config").put("User", USER).put("WorkingDir", "/");
        config.putArray("Entrypoint").add("/usr/bin/culvert");
        config.putArray("Env")
                .add("PATH=/usr/bin")
                .add("LANG=C.UTF-8")
                .add("CULVERT_LOG_FORMAT=json");
        config.put("StopSignal", "SIGTERM");
        config.set("Labels", JSON.valueToTree(labels()));
        ObjectNode files = image.putObject("rootfs").put("type", "layers");
        for (OciLayout.Layer layer : layers) {
            files.withArray("diff_ids").add(layer.content());
            image.withArray("history")
                    .addObject()
                    .put("created", created.toString())
                    .put("comment",
                            layer.comment());
        }
        return image;
    }

    private Map<String, String> labels() {
        var labels = new TreeMap<String, String>();
        String prefix = "org.opencontainers.image.";
        labels.put(prefix + "title", "Culvert");
        labels.put(prefix + "description", "A reverse-tunnel and edge gateway");
        labels.put(prefix + "version", option("version"));
        labels.put(prefix + "created", created.toString());
        labels.put(prefix + "licenses", "Apache-2.0");
        labels.put(prefix + "base.name", option("base-name"));
        if (options.containsKey("revision")) {
            labels.put(prefix + "revision", option("revision"));
        }
        return labels;
    }

    /** The bill of materials, as an artifact that refers to the image. */
    private ObjectNode bill(OciLayout layout, OciLayout.Blob image) throws IOException {
        ObjectNode manifest = manifest(layout.blob(EMPTY, JSON.createObjectNode())).put("artifactType", BILL);
        OciLayout.Blob bill = layout.blob(BILL,
                Files.readAllBytes(installation.resolve("sbom/culvert.cdx.json")));
        manifest.withArray("layers").add(bill.descriptor());
        manifest.set("subject", image.descriptor());
        return manifest;
    }

    private static ObjectNode manifest(OciLayout.Blob config) {
        ObjectNode manifest = JSON.createObjectNode().put("schemaVersion", 2).put("mediaType", MANIFEST);
        manifest.set("config", config.descriptor());
        return manifest;
    }

    private String option(String name) {
        String value = options.get(name);
        if (value == null) {
            throw new IllegalArgumentException("--" + name + " is missing");
        }
        return value;
    }

    private Path path(String name) {
        return Path.of(option(name));
    }

    private static void remove(Path folder) throws IOException {
        try (var all = Files.walk(folder)) {
            for (Path file : all.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        }
    }
}
