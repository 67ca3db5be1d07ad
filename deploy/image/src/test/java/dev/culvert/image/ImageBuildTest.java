package dev.culvert.image;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.MessageDigest;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The image of a small installation. The real one is built and run by {@code e2e/scripts/image.py}. */
class ImageBuildTest {
    private static final JsonMapper JSON = new JsonMapper();

    @TempDir
    Path folder;

    @BeforeEach
    void makeAnInstallation() throws IOException {
        write("base/etc/passwd", "culvert:x:10001:10001::/:/none\n");
        Files.createDirectories(folder.resolve("base/tmp"));
        Files.createSymbolicLink(folder.resolve("base/lib64"), Path.of("usr/lib64"));
        write("runtime/bin/java", "ELF");
        Files.setPosixFilePermissions(folder.resolve("runtime/bin/java"),
                PosixFilePermissions.fromString("rwxr-xr-x"));
        write("installation/lib/netty.jar", "theirs");
        write("installation/lib/culvert-launcher-0.1.0.jar", "ours");
        write("installation/lib/demo/stand-in.jar", "demo");
        write("installation/lib/bench/jmh.jar", "left out");
        write("installation/args/client.args", "-Xms16m\n");
        write("installation/bin/culvert", "a script: left out");
        write("installation/sbom/culvert.cdx.json", "{}");
        write("entry.jar", "entry");
    }

    @Test
    void theSameContentIsTheSameImage() throws IOException {
        String first = build("first.tar", base());
        Files.setLastModifiedTime(folder.resolve("runtime/bin/java"), FileTime.from(Instant.EPOCH));

        assertThat(build("second.tar", base())).isEqualTo(first);
        assertThat(folder.resolve("second.tar")).hasSameBinaryContentAs(folder.resolve("first.tar"));
    }

    @Test
    void layersAreInTheOrderOfTheirChanges() throws Exception {
        Map<String, byte[]> image = tar(archive("image.tar", base()));
        JsonNode manifest = manifest(image);

        var layers = new ArrayList<List<String>>();
        for (JsonNode layer : manifest.path("layers")) {
            layers.add(files(blob(image, layer)));
        }
        assertThat(layers).containsExactly(List.of("etc/passwd", "lib64"),
                List.of("opt/culvert/runtime/bin/java"),
                List.of("opt/culvert/lib/netty.jar"), List.of("opt/culvert/lib/demo/stand-in.jar"),
                List.of("opt/culvert/args/client.args", "opt/culvert/bin/entry.args",
                        "opt/culvert/bin/entry.jar",
                        "opt/culvert/lib/culvert-launcher-0.1.0.jar", "opt/culvert/sbom/culvert.cdx.json",
                        "usr/bin/culvert"));
    }

    @Test
    void theImageSaysWhatItIs() throws Exception {
        Map<String, byte[]> image = tar(archive("image.tar", base()));
        JsonNode manifest = manifest(image);
        JsonNode config = JSON.readTree(blob(image, manifest.path("config")));

        assertThat(config.at("/config/User").asText()).isEqualTo("10001:10001");
        assertThat(config.at("/config/Entrypoint/0").asText()).isEqualTo("/usr/bin/culvert");
        assertThat(config.at("/config/Env").toString()).contains("CULVERT_LOG_FORMAT=json");
        assertThat(config.at("/config/Labels").toString()).contains(
                "\"org.opencontainers.image.version\":\"0.1.0\"",
                "\"org.opencontainers.image.base.name\":\"debian\"");
        for (int i = 0; i < manifest.path("layers").size(); i++) {
            byte[] content;
            try (var unpacked = new GZIPInputStream(
                    new ByteArrayInputStream(blob(image, manifest.path("layers").path(i))))) {
                content = unpacked.readAllBytes();
            }
            assertThat(config.at("/rootfs/diff_ids/" + i).asText()).isEqualTo(digest(content));
        }
        JsonNode bill = JSON.readTree(blob(image, index(image).path(1)));
        assertThat(bill.at("/subject/digest")).isEqualTo(index(image).path(0).path("digest"));
        assertThat(new String(blob(image, bill.at("/layers/0")), StandardCharsets.UTF_8)).isEqualTo("{}");
    }

    @Test
    void modesAreThoseOfTheirKind() throws Exception {
        Map<String, byte[]> image = tar(archive("image.tar", base()));
        JsonNode layers = manifest(image).path("layers");

        assertThat(modes(blob(image, layers.path(0)))).containsEntry("tmp/", "1777")
                .containsEntry("etc/passwd", "0644");
        assertThat(modes(blob(image, layers.path(1)))).containsEntry("opt/culvert/runtime/bin/java", "0755");
        assertThat(modes(blob(image, layers.path(4)))).containsEntry("usr/bin/culvert", "0755");
    }

    @Test
    void anImageByDigestIsABase() throws Exception {
        Path other = layout(archive("base.tar", base()));

        Map<String, byte[]> image = tar(archive("image.tar", Map.of("base-layout", other.toString())));

        JsonNode below = manifest(tar(folder.resolve("base.tar"))).path("layers");
        JsonNode layers = manifest(image).path("layers");
        assertThat(layers).hasSize(below.size() + 4);
        assertThat(layers.path(0)).isEqualTo(below.path(0));
        assertThatThrownBy(() -> archive("arm.tar",
                Map.of("base-layout", other.toString(), "architecture", "arm64")))
                .hasMessageContaining("is of amd64 (expected: arm64)");
        Path damaged = other.resolve("blobs/sha256")
                .resolve(
                        below.path(0).path("digest").asText().substring("sha256:".length()));
        Files.writeString(damaged, "other content");
        assertThatThrownBy(() -> archive("damaged.tar", Map.of("base-layout", other.toString())))
                .hasMessageContaining("not of its digest");
    }

    private Map<String, String> base() {
        return Map.of("base", folder.resolve("base").toString());
    }

    private Path archive(String name, Map<String, String> more) throws IOException {
        build(name, more);
        return folder.resolve(name);
    }

    private String build(String name, Map<String, String> more) throws IOException {
        var options = new LinkedHashMap<>(
                Map.of("installation", folder.resolve("installation").toString(), "runtime",
                        folder.resolve("runtime").toString(), "entry", folder.resolve("entry.jar").toString(),
                        "version",
                        "0.1.0", "created", "2026-11-21T00:00:00Z", "architecture", "amd64", "base-name",
                        "debian", "output",
                        folder.resolve(name).toString()));
        options.putAll(more);
        return ImageBuild.of(options).write();
    }

    private Path write(String name, String content) throws IOException {
        Path file = folder.resolve(name);
        Files.createDirectories(Objects.requireNonNull(file.getParent()));
        return Files.writeString(file, content);
    }

    private Path layout(Path archive) throws IOException {
        for (var file : tar(archive).entrySet()) {
            Path target = folder.resolve("layout").resolve(file.getKey());
            Files.createDirectories(Objects.requireNonNull(target.getParent()));
            Files.write(target, file.getValue());
        }
        return folder.resolve("layout");
    }

    private static JsonNode index(Map<String, byte[]> image) throws IOException {
        return JSON.readTree(image.get("index.json")).path("manifests");
    }

    private static JsonNode manifest(Map<String, byte[]> image) throws IOException {
        return JSON.readTree(blob(image, index(image).path(0)));
    }

    private static byte[] blob(Map<String, byte[]> image, JsonNode descriptor) {
        String digest = descriptor.path("digest").asText();
        byte[] content = Objects.requireNonNull(image.get(digest.replace("sha256:", "blobs/sha256/")));
        assertThat(digest(content)).isEqualTo(digest);
        assertThat(content).hasSize(descriptor.path("size").asInt());
        return content;
    }

    private static List<String> files(byte[] layer) throws IOException {
        return modes(layer).keySet().stream().filter(name -> !name.endsWith("/")).toList();
    }

    private static Map<String, String> modes(byte[] layer) throws IOException {
        var modes = new LinkedHashMap<String, String>();
        try (InputStream in = new GZIPInputStream(new ByteArrayInputStream(layer))) {
            visit(in, (name, mode, content) -> modes.put(name, mode));
        }
        return modes;
    }

    private static Map<String, byte[]> tar(Path archive) throws IOException {
        var files = new LinkedHashMap<String, byte[]>();
        try (InputStream in = Files.newInputStream(archive)) {
            visit(in, (name, mode, content) -> {
                if (!name.endsWith("/")) {
                    files.put(name, content);
                }
            });
        }
        return files;
    }

    private interface Visitor {
        void visit(String name, String mode, byte[] content);
    }

    private static void visit(InputStream in, Visitor visitor) throws IOException {
        while (true) {
            byte[] header = in.readNBytes(512);
            String name = text(header, 0, 100);
            if (name.isEmpty()) {
                return;
            }
            int size = Integer.parseInt(text(header, 124, 11), 8);
            byte[] content = in.readNBytes((size + 511) / 512 * 512);
            visitor.visit(name, text(header, 103, 4), java.util.Arrays.copyOf(content, size));
        }
    }

    private static String text(byte[] header, int at, int length) {
        String text = new String(header, at, length, StandardCharsets.US_ASCII);
        return text.indexOf('\0') < 0 ? text : text.substring(0, text.indexOf('\0'));
    }

    private static String digest(byte[] content) {
        try {
            return "sha256:" + HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(content));
        } catch (java.security.NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }
}
