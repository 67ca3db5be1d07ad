package dev.culvert.config.yaml;

import dev.culvert.config.ConfigErrors;
import dev.culvert.config.ConfigNode;
import dev.culvert.config.Origin;
import dev.culvert.config.Reason;
import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import org.snakeyaml.engine.v2.api.LoadSettings;
import org.snakeyaml.engine.v2.api.lowlevel.Parse;
import org.snakeyaml.engine.v2.events.Event;
import org.snakeyaml.engine.v2.exceptions.Mark;
import org.snakeyaml.engine.v2.exceptions.MarkedYamlEngineException;
import org.snakeyaml.engine.v2.exceptions.YamlEngineException;

/**
 * Reads a YAML file strictly: one document of plain maps, lists and texts. Refuses duplicate keys, anchors
 * and aliases, deep nesting and large files, because a configuration needs none of them.
 */
public final class YamlFile {
    /** The maximum size of a file. A table of 10,000 routes has about 2 MiB. */
    static final int MAX_BYTES = 8 << 20;

    private YamlFile() {}

    /**
     * Reads a file. Blocks on the disk.
     *
     * @throws ConfigErrors if the file can't be read or is not such a document; the error names file and line
     */
    public static ConfigNode.Entries read(Path file) {
        try {
            if (Files.size(file) > MAX_BYTES) {
                throw new ConfigErrors(
                        List.of(file + ": larger than 8 MiB (expected: a configuration file)"));
            }
            return parse(Files.readString(file), file);
        } catch (NoSuchFileException e) {
            throw new ConfigErrors(List.of(file + ": no such file"));
        } catch (CharacterCodingException e) {
            throw new ConfigErrors(List.of(file + ": not UTF-8 text"));
        } catch (IOException e) {
            throw new ConfigErrors(List.of(file + ": can't be read: " + Reason.of(e)));
        }
    }

    private static ConfigNode.Entries parse(String text, Path file) {
        Path absolute = file.toAbsolutePath();
        Path folder = absolute.getParent() == null ? absolute : absolute.getParent();
        LoadSettings settings = LoadSettings.builder()
                .setLabel(file.toString())
                .setUseMarks(true)
                .setCodePointLimit(MAX_BYTES)
                .build();
        try {
            Iterator<Event> events = new Parse(settings).parseString(text).iterator();
            return new YamlTree(events, new Origin(file.toString(), folder)).document();
        } catch (MarkedYamlEngineException e) {
            Optional<Mark> mark = e.getProblemMark();
            String line = mark.map(at -> ":" + (at.getLine() + 1)).orElse("");
            throw new ConfigErrors(List.of(file + line + ": not valid YAML: " + e.getProblem()));
        } catch (YamlEngineException e) {
            throw new ConfigErrors(List.of(file + ": not valid YAML: " + e.getMessage()));
        }
    }
}
