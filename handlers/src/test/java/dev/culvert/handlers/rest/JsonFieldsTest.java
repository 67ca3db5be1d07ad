package dev.culvert.handlers.rest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.handlers.spi.HandlerException.Reason;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import org.junit.jupiter.api.Test;

class JsonFieldsTest {
    private static final Set<String> KNOWN = Set.of("name", "hosts", "admin", "expires", "rule", "labels");

    @Test
    void allMistakesAreNamedAtOnce() {
        assertThat(
                refused("{'hosts':'h','admin':'true','expires':1.5,'rule':{'x':1},'labels':{'a':null},'n':1}",
                        fields -> fields.text("name") + fields.texts("hosts") + fields.flag("admin")
                                + fields.optionalNumber("expires")
                                + fields.object("rule", Set.of("path")).text("path")
                                + fields.textByName("labels")))
                .isEqualTo("n: unknown field (expected: [admin, expires, hosts, labels, name, rule]); "
                        + "name: missing (expected: a string); hosts: not a list (expected: a list of strings); "
                        + "admin: not a boolean (expected: true or false); "
                        + "expires: not a whole number (expected: a whole number); "
                        + "rule.x: unknown field (expected: [path]); rule.path: missing (expected: a string); "
                        + "labels.a: missing (expected: a string)");
    }

    @Test
    void aMissingObjectIsOneMistake() {
        assertThat(refused("{}", fields -> fields.object("rule", Set.of("path")).text("path")))
                .isEqualTo("rule: missing (expected: an object with [path])");
    }

    @Test
    void mistakesOfFieldsComeBeforeThoseOfTheValue() {
        Function<JsonFields, String> making = fields -> {
            throw new IllegalArgumentException("name: " + fields.text("name") + " (expected: another)");
        };

        assertThat(refused("{'name':7}", making)).isEqualTo("name: not a string (expected: a string)");
        assertThat(refused("{'name':'x'}", making)).isEqualTo("name: x (expected: another)");
    }

    @Test
    void mistakesAreBounded() {
        String body = "{" + "'%s':1,".repeat(50).formatted((Object[]) names()) + "'name':'x'}";

        assertThat(refused(body, fields -> fields.text("name")).split("; ")).hasSize(20);
    }

    @Test
    void absentFieldsAreEmpty() {
        List<Object> empty = JsonFields.read(bytes("{'name':'x','hosts':null}"), KNOWN,
                fields -> List.of(fields.text("name"), fields.texts("hosts"), fields.flag("admin"),
                        fields.textByName("labels").size(), fields.has("hosts")));
        String open = JsonFields.readOpen(bytes("{'name':'x','more':1}"), fields -> fields.text("name"));

        assertThat(empty).containsExactly("x", List.of(), false, 0, false);
        assertThat(open).isEqualTo("x");
    }

    private static String[] names() {
        String[] names = new String[50];
        for (int i = 0; i < names.length; i++) {
            names[i] = "f" + i;
        }
        return names;
    }

    private static String refused(String body, Function<JsonFields, ?> making) {
        var refused = catchThrowableOfType(HandlerException.class,
                () -> JsonFields.read(bytes(body), KNOWN, making::apply));
        assertThat(refused.reason()).isEqualTo(Reason.BAD_REQUEST);
        return refused.detail();
    }

    private static byte[] bytes(String json) {
        return json.replace('\'', '"').getBytes(StandardCharsets.UTF_8);
    }
}
