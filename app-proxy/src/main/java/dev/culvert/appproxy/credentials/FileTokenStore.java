package dev.culvert.appproxy.credentials;

import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.culvert.certs.AtomicFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Stores records in one file, {@code git-tokens.json}, with mode 0600, replaced as a whole. */
final class FileTokenStore implements TokenStore {
    static final String FILE = "git-tokens.json";

    private static final JsonMapper JSON = new JsonMapper();
    private static final TypeReference<TreeMap<String, String>> RECORDS = new TypeReference<>() {
    };

    private final Path folder;

    FileTokenStore(Path folder) {
        this.folder = folder;
    }

    @Override
    public Map<TokenPlace, String> read() throws IOException {
        var records = new LinkedHashMap<TokenPlace, String>();
        try {
            raw().forEach((key, record) -> records.put(TokenPlace.parse(key), record));
        } catch (IllegalArgumentException e) {
            throw new IOException(folder.resolve(FILE) + ": not written by Culvert", e);
        }
        return records;
    }

    @Override
    public void write(TokenPlace place, @Nullable String record) throws IOException {
        Map<String, String> records = raw();
        if (record == null) {
            records.remove(place.key());
        } else {
            records.put(place.key(), record);
        }
        Files.createDirectories(folder);
        AtomicFile.write(folder.resolve(FILE), JSON.writeValueAsBytes(records), "rw-------");
    }

    private Map<String, String> raw() throws IOException {
        Path file = folder.resolve(FILE);
        return Files.exists(file) ? JSON.readValue(file.toFile(), RECORDS) : new TreeMap<>();
    }
}
