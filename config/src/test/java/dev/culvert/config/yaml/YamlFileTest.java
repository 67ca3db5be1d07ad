package dev.culvert.config.yaml;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.culvert.config.ConfigErrors;
import dev.culvert.config.ConfigNode;
import dev.culvert.config.Origin;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class YamlFileTest {
    @TempDir
    Path folder;
    private Path file;

    @BeforeEach
    void nameTheFile() {
        file = folder.resolve("server.yaml");
    }

    @Test
    void everyValueKnowsTheLineOfItsKey() throws IOException {
        ConfigNode.Entries root = read(
                "# a comment\nedge:\n  listen: 0.0.0.0:8443\n  tls: { key: edge.key }\nlist:\n  - a\n  - b\n");

        ConfigNode.Entries edge = child(root, "edge", ConfigNode.Entries.class);
        assertThat(child(edge, "listen", ConfigNode.Scalar.class))
                .isEqualTo(new ConfigNode.Scalar("0.0.0.0:8443", new Origin(file + ":3", folder)));
        assertThat(child(edge, "tls", ConfigNode.Entries.class).origin().text()).isEqualTo(file + ":4");
        ConfigNode.Items list = child(root, "list", ConfigNode.Items.class);
        assertThat(list.origin().text()).isEqualTo(file + ":5");
        assertThat(list.items().get(1).origin().text()).isEqualTo(file + ":7");
    }

    @Test
    void nothingBehindAKeyIsTheEmptyText() throws IOException {
        ConfigNode.Entries root = read("info:\nother: ~\nquoted: \"null\"\n");

        assertThat(child(root, "info", ConfigNode.Scalar.class).text()).isEmpty();
        assertThat(child(root, "other", ConfigNode.Scalar.class).text()).isEmpty();
        assertThat(child(root, "quoted", ConfigNode.Scalar.class).text()).isEqualTo("null");
    }

    @Test
    void anEmptyFileSetsNothing() throws IOException {
        assertThat(read("").entries()).isEmpty();
        assertThat(read("# only a comment\n").entries()).isEmpty();
        assertThat(read("---\n").entries()).isEmpty();
    }

    @Test
    void duplicateKeysAreRefusedWithTheirLine() {
        refused("a: 1\nb: 2\na: 3\n", ":3: a: duplicate key (expected: each key once)");
    }

    @Test
    void anchorsAndAliasesAreRefused() {
        refused("a: &x [1, 1]\nb: [*x, *x]\n",
                ":1: anchors and aliases are not accepted; write the value out");
        refused("b: *x\n", "anchors and aliases are not accepted");
    }

    @Test
    void aSecondDocumentIsRefused() {
        refused("a: 1\n---\nb: 2\n", ":2: a second document");
    }

    @Test
    void whatIsNoMapIsRefused() {
        refused("- a\n", ":1: a list (expected: keys with values)");
        refused("hello\n", ":1: a text (expected: keys with values)");
    }

    @Test
    void brokenYamlNamesTheLine() {
        refused("edge:\n  listen: [1, 2\nb: c\n", ":3: not valid YAML");
    }

    @Test
    void deepNestingIsRefusedBeforeItHurts() {
        refused("a: " + "[".repeat(200_000), "nested deeper than 20 levels");
    }

    @Test
    void aLargeFileIsRefused() {
        refused("a: " + "x".repeat(YamlFile.MAX_BYTES), "larger than 8 MiB");
    }

    @Test
    void aMissingFileIsNamed() {
        assertThatThrownBy(() -> YamlFile.read(file)).isInstanceOf(ConfigErrors.class)
                .hasMessage(file + ": no such file");
        assertThatThrownBy(() -> YamlFile.read(folder)).isInstanceOf(ConfigErrors.class)
                .hasMessage(folder + ": can't be read: Is a directory");
    }

    private static <T extends ConfigNode> T child(ConfigNode.Entries parent, String key, Class<T> type) {
        ConfigNode node = parent.entries().get(key);
        assertThat(node).isInstanceOf(type);
        return type.cast(Objects.requireNonNull(node));
    }

    private ConfigNode.Entries read(String text) throws IOException {
        return YamlFile.read(Files.writeString(file, text));
    }

    private void refused(String text, String why) {
        assertThatThrownBy(() -> read(text)).isInstanceOf(ConfigErrors.class)
                .hasMessageContaining(why)
                .hasMessageStartingWith(file.toString());
    }
}
