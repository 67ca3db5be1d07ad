package dev.culvert.launcher.output;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.culvert.launcher.run.CommandException;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.snakeyaml.engine.v2.api.Load;
import org.snakeyaml.engine.v2.api.LoadSettings;

class OutputTest {
    private static final String DATA = """
            {"a":[{"n":1,"f":-2.5,"big":12345678901234567890,"text":"yes","no":"no","date":"2026-11-25T12:00:00Z",
            "empty":"","number":"012","null":null,"true":true,"lines":"a\\nb: c\\n","odd":"- # ' \\" \\u001b \\ud83d\\ude00"}],"none":[],"e":{}}
            """;

    @Test
    void yamlIsTheSameData() throws Exception {
        String yaml = Output.yaml.text(DATA, () -> "");

        Object loaded = new Load(LoadSettings.builder().build()).loadFromString(yaml);
        var json = new ObjectMapper();
        assertThat(json.readTree(json.writeValueAsString(loaded))).isEqualTo(json.readTree(DATA));
        assertThat(yaml).doesNotContain("\u001b");
    }

    @Test
    void jsonStaysAsItWasAnswered() {
        assertThat(Output.json.text(DATA, () -> "")).isSameAs(DATA);
        assertThat(Output.table.text(DATA, () -> "people")).isEqualTo("people");
        assertThat(Output.yaml.text("<html>", () -> "people")).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"table", "json", "yaml", "JSON", "Yaml"})
    void theFlagWinsOverTheVariable(String named) {
        assertThat(Output.chosen(null, Map.of(Output.VARIABLE, named)).name()).isEqualToIgnoringCase(named);
        assertThat(Output.chosen(Output.json, Map.of(Output.VARIABLE, named))).isEqualTo(Output.json);
    }

    @Test
    void anotherFormatInTheVariableIsNamed() {
        assertThat(Objects.requireNonNull(Output.chosen(null, Map.of()))).isEqualTo(Output.table);
        assertThatThrownBy(() -> Output.chosen(null, Map.of(Output.VARIABLE, "xml")))
                .isInstanceOf(CommandException.class)
                .hasMessage("CULVERT_OUTPUT: 'xml' (expected: table, json or yaml)");
    }
}
