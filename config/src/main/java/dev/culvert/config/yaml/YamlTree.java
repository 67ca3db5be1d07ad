package dev.culvert.config.yaml;

import dev.culvert.config.ConfigErrors;
import dev.culvert.config.ConfigNode;
import dev.culvert.config.Origin;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.snakeyaml.engine.v2.common.ScalarStyle;
import org.snakeyaml.engine.v2.events.AliasEvent;
import org.snakeyaml.engine.v2.events.DocumentStartEvent;
import org.snakeyaml.engine.v2.events.Event;
import org.snakeyaml.engine.v2.events.MappingEndEvent;
import org.snakeyaml.engine.v2.events.MappingStartEvent;
import org.snakeyaml.engine.v2.events.NodeEvent;
import org.snakeyaml.engine.v2.events.ScalarEvent;
import org.snakeyaml.engine.v2.events.SequenceEndEvent;
import org.snakeyaml.engine.v2.events.SequenceStartEvent;
import org.snakeyaml.engine.v2.events.StreamEndEvent;

/** Builds nodes from the parser's events. Records the line of every key. */
final class YamlTree {
    /** The maximum nesting. The deepest key of any service has five levels. */
    private static final int MAX_DEPTH = 20;

    private final Iterator<Event> events;
    private final Origin file;
    private int depth;

    YamlTree(Iterator<Event> events, Origin file) {
        this.events = events;
        this.file = file;
    }

    /** Reads the only document. An empty file gives an empty map. */
    ConfigNode.Entries document() {
        events.next(); // stream start
        Event start = events.next();
        if (start instanceof StreamEndEvent) {
            return new ConfigNode.Entries(Map.of(), file);
        }
        ConfigNode node = node(events.next());
        events.next(); // document end
        if (events.next() instanceof DocumentStartEvent second) {
            throw wrong(second, "a second document (expected: one document a file)");
        }
        return switch (node) {
            case ConfigNode.Entries entries -> new ConfigNode.Entries(entries.entries(), file);
            case ConfigNode.Scalar scalar when scalar.text().isEmpty() ->
                new ConfigNode.Entries(Map.of(), file);
            case ConfigNode.Scalar scalar ->
                throw wrong(scalar.origin(), "a text (expected: keys with values)");
            case ConfigNode.Items items -> throw wrong(items.origin(), "a list (expected: keys with values)");
        };
    }

    private ConfigNode node(Event event) {
        if (event instanceof AliasEvent
                || (event instanceof NodeEvent node && node.getAnchor().isPresent())) {
            throw wrong(event, "anchors and aliases are not accepted; write the value out");
        }
        if (++depth > MAX_DEPTH) {
            throw wrong(event, "nested deeper than " + MAX_DEPTH + " levels");
        }
        ConfigNode node = switch (event) {
            case ScalarEvent scalar -> new ConfigNode.Scalar(text(scalar), origin(event));
            case SequenceStartEvent start -> items(start);
            case MappingStartEvent start -> entries(start);
            default -> throw wrong(event, "not valid YAML: " + event.getEventId());
        };
        depth--;
        return node;
    }

    private static String text(ScalarEvent scalar) {
        boolean plain = scalar.getScalarStyle() == ScalarStyle.PLAIN;
        boolean nothing = plain && (scalar.getValue().equals("~") || scalar.getValue().equals("null"));
        return nothing ? "" : scalar.getValue();
    }

    private ConfigNode items(SequenceStartEvent start) {
        var items = new ArrayList<ConfigNode>();
        for (Event next = events.next(); !(next instanceof SequenceEndEvent); next = events.next()) {
            items.add(node(next));
        }
        return new ConfigNode.Items(items, origin(start));
    }

    private ConfigNode entries(MappingStartEvent start) {
        var entries = new LinkedHashMap<String, ConfigNode>();
        for (Event next = events.next(); !(next instanceof MappingEndEvent); next = events.next()) {
            if (!(next instanceof ScalarEvent key)) {
                throw wrong(next, "a key that is not a text");
            }
            ConfigNode value = at(origin(key), node(events.next()));
            if (entries.put(key.getValue(), value) != null) {
                throw wrong(next, key.getValue() + ": duplicate key (expected: each key once)");
            }
        }
        return new ConfigNode.Entries(entries, origin(start));
    }

    /** Gives a value the origin of its key, so that errors name the key's line. */
    private static ConfigNode at(Origin key, ConfigNode value) {
        return switch (value) {
            case ConfigNode.Scalar scalar -> new ConfigNode.Scalar(scalar.text(), key);
            case ConfigNode.Items items -> new ConfigNode.Items(items.items(), key);
            case ConfigNode.Entries entries -> new ConfigNode.Entries(entries.entries(), key);
        };
    }

    private Origin origin(Event event) {
        return event.getStartMark()
                .map(mark -> new Origin(file.text() + ":" + (mark.getLine() + 1), file.folder()))
                .orElse(file);
    }

    private ConfigErrors wrong(Event event, String text) {
        return wrong(origin(event), text);
    }

    private static ConfigErrors wrong(Origin origin, String text) {
        return new ConfigErrors(List.of(origin + ": " + text));
    }
}
