package dev.culvert.appproxy.credentials;

import com.fasterxml.jackson.core.JsonLocation;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.TextNode;
import dev.culvert.certs.AtomicFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Stores records in one file, {@code git-tokens.json}, with mode 0600, replaced as a whole. */
final class FileTokenStore implements TokenStore {
    private static final Logger LOG = LoggerFactory.getLogger(FileTokenStore.class);
    static final String FILE = "git-tokens.json";

    private static final JsonMapper JSON = JsonMapper.builder()
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .build();
    private static final TypeReference<TreeMap<String, JsonNode>> RECORDS = new TypeReference<>() {
    };

    private final Path folder;

    FileTokenStore(Path folder) {
        this.folder = folder;
    }

    /** A record that this version does not know stays in the file. */
    @Override
    public Map<TokenPlace, String> read() throws IOException {
        var records = new LinkedHashMap<TokenPlace, String>();
        int skipped = 0;
        for (var entry : raw().entrySet()) {
            try {
                records.put(TokenPlace.parse(entry.getKey()), text(entry.getValue()));
            } catch (IllegalArgumentException e) {
                skipped++;
            }
        }
        if (skipped > 0) {
            LOG.atWarn()
                    .addKeyValue("file", folder.resolve(FILE))
                    .addKeyValue("records", skipped)
                    .log("records that Culvert did not write are skipped");
        }
        return records;
    }

    private static String text(JsonNode record) {
        if (!record.isTextual()) {
            throw new IllegalArgumentException("no text");
        }
        return record.textValue();
    }

    @Override
    public void write(TokenPlace place, @Nullable String record) throws IOException {
        Map<String, JsonNode> records = raw();
        if (record == null) {
            records.remove(place.key());
        } else {
            records.put(place.key(), TextNode.valueOf(record));
        }
        Files.createDirectories(folder);
        AtomicFile.write(folder.resolve(FILE), JSON.writeValueAsBytes(records), "rw-------");
    }

    private Map<String, JsonNode> raw() throws IOException {
        Path file = folder.resolve(FILE);
        try {
            Map<String, JsonNode> records = Files.exists(file)
                    ? JSON.readValue(file.toFile(), RECORDS)
                    : null;
            return records == null ? new TreeMap<>() : records; // also for a file that says null
        } catch (JsonProcessingException e) {
            JsonLocation at = e.getLocation();
            throw new IOException(file + ": no JSON object" + (at == null
                    ? ""
                    : ", at line " + at.getLineNr()
                            + ", column " + at.getColumnNr())
                    + " (expected: as Culvert wrote it; restore a backup, or move it away and let all register anew)");
        }
    }
}
