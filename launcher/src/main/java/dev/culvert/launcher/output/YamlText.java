package dev.culvert.launcher.output;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.snakeyaml.engine.v2.api.Dump;
import org.snakeyaml.engine.v2.api.DumpSettings;
import org.snakeyaml.engine.v2.common.FlowStyle;

/** Writes JSON values as YAML 1.2. Its library is loaded when the format is asked for. */
final class YamlText {
    private YamlText() {}

    /** A document with a line end; an empty text for a missing node. */
    static String of(JsonNode value) {
        if (value.isMissingNode()) {
            return "";
        }
        var settings = DumpSettings.builder()
                .setDefaultFlowStyle(FlowStyle.BLOCK)
                .setIndicatorIndent(2)
                .setIndentWithIndicator(true)
                .setWidth(Integer.MAX_VALUE) // a text of one line stays one
                .build();
        return new Dump(settings).dumpToString(plain(value));
    }

    private static @Nullable Object plain(JsonNode value) {
        return switch (value.getNodeType()) {
            case OBJECT -> object(value);
            case ARRAY -> array(value);
            case NUMBER -> value.numberValue();
            case BOOLEAN -> value.booleanValue();
            case NULL, MISSING -> null;
            default -> value.asText();
        };
    }

    private static Map<String, @Nullable Object> object(JsonNode value) {
        var members = new LinkedHashMap<String, @Nullable Object>();
        value.properties().forEach(member -> members.put(member.getKey(), plain(member.getValue())));
        return members;
    }

    private static List<@Nullable Object> array(JsonNode value) {
        var items = new ArrayList<@Nullable Object>();
        value.forEach(item -> items.add(plain(item)));
        return items;
    }
}
