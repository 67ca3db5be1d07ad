package dev.culvert.image;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.DigestOutputStream;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.Stream;
import java.util.zip.GZIPOutputStream;

/** A folder in OCI's image layout, that is filled blob by blob and packed into one archive at the end. */
final class OciLayout {
    static final String LAYER = "application/vnd.oci.image.layer.v1.tar+gzip";
    private static final JsonMapper JSON = new JsonMapper();
    private static final int BUFFER = 1 << 16;

    private final Path blobs;
    private final Path folder;
    private final long seconds;

    /** @param seconds the time of all files, since 1970 */
    OciLayout(Path folder, long seconds) throws IOException {
        this.folder = folder;
        this.seconds = seconds;
        this.blobs = Files.createDirectories(folder.resolve("blobs/sha256"));
    }

    /**
     * What refers to a blob.
     *
     * @param digest {@code sha256:…}
     */
    record Blob(String type, String digest, long size) {
        ObjectNode descriptor() {
            return JSON.createObjectNode().put("mediaType", type).put("digest", digest).put("size", size);
        }
    }

    /**
     * A layer's blob.
     *
     * @param content the digest of its tar archive, before compression
     */
    record Layer(Blob blob, String content, String comment) {}

    Layer layer(LayerContent content) throws IOException {
        Path file = Files.createTempFile(folder, "layer", ".tar.gz");
        MessageDigest packed = sha256();
        MessageDigest plain = sha256();
        try (var tar = new TarWriter(new DigestOutputStream(new GZIPOutputStream(
                new DigestOutputStream(Files.newOutputStream(file), packed), BUFFER), plain), seconds)) {
            content.write(tar);
        }
        return new Layer(move(file, LAYER, packed), named(plain), content.comment());
    }

    Blob blob(String type, byte[] content) throws IOException {
        Path file = Files.createTempFile(folder, "blob", "");
        MessageDigest digest = sha256();
        try (OutputStream out = new DigestOutputStream(Files.newOutputStream(file), digest)) {
            out.write(content);
        }
        return move(file, type, digest);
    }

    Blob blob(String type, JsonNode content) throws IOException {
        return blob(type, JSON.writeValueAsBytes(content));
    }

    /** Copies a blob of another layout, and checks its digest. */
    Blob copy(Path layout, JsonNode descriptor) throws IOException {
        String digest = descriptor.path("digest").asText();
        Path file = blob(layout, digest);
        Blob copied = blob(descriptor.path("mediaType").asText(), Files.readAllBytes(file));
        if (!copied.digest().equals(digest)) {
            throw new IOException(file + ": its content is not of its digest");
        }
        return copied;
    }

    /** A JSON document of a layout. */
    static JsonNode json(Path layout, String digest) throws IOException {
        return JSON.readTree(Files.readAllBytes(blob(layout, digest)));
    }

    private static Path blob(Path layout, String digest) throws IOException {
        if (!digest.matches("sha256:[0-9a-f]{64}")) {
            throw new IOException(layout + ": '" + digest + "' (expected: sha256: and 64 digits)");
        }
        return layout.resolve("blobs/sha256").resolve(digest.substring("sha256:".length()));
    }

    /** Writes the index, and the archive with everything. */
    void archive(List<ObjectNode> manifests, Path archive) throws IOException {
        ObjectNode index = JSON.createObjectNode()
                .put("schemaVersion", 2)
                .put("mediaType",
                        "application/vnd.oci.image.index.v1+json");
        manifests.forEach(index.putArray("manifests")::add);
        byte[] version = "{\"imageLayoutVersion\":\"1.0.0\"}".getBytes(StandardCharsets.US_ASCII);
        try (var tar = new TarWriter(Files.newOutputStream(archive), seconds);
                Stream<Path> files = Files.list(blobs)) {
            tar.file("oci-layout", 0644, version);
            tar.file("index.json", 0644, JSON.writeValueAsBytes(index));
            tar.folder("blobs", 0755);
            tar.folder("blobs/sha256", 0755);
            for (Path blob : files.sorted().toList()) {
                tar.file("blobs/sha256/" + blob.getFileName(), 0644, blob);
            }
        }
    }

    private Blob move(Path file, String type, MessageDigest digest) throws IOException {
        String named = named(digest);
        long size = Files.size(file);
        Files.move(file, blob(folder, named), StandardCopyOption.REPLACE_EXISTING);
        return new Blob(type, named, size);
    }

    private static String named(MessageDigest digest) {
        return "sha256:" + HexFormat.of().formatHex(digest.digest());
    }

    private static MessageDigest sha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java has SHA-256", e);
        }
    }
}
