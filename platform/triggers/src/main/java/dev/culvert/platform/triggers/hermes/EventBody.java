package dev.culvert.platform.triggers.hermes;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.handlers.spi.HandlerException.Reason;
import java.io.IOException;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The JSON that a provider sends, of which the platform reads some fields. Fields that are absent are told by
 * their path.
 */
public final class EventBody {
    private static final int MAX_ITEMS = 100;
    private static final JsonMapper JSON = JsonMapper.builder()
            .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
            .build();

    private final JsonNode node;
    private final String within;

    private EventBody(JsonNode node, String within) {
        this.node = node;
        this.within = within;
    }

    /** Throws HandlerException BAD_REQUEST for what is no JSON object. */
    public static EventBody parse(byte[] body) {
        JsonNode node;
        try {
            node = JSON.readTree(body);
        } catch (JsonProcessingException e) {
            var where = e.getLocation();
            throw wrong("the body is not JSON" + (where == null
                    ? ""
                    : " (line " + where.getLineNr() + ", column " + where.getColumnNr() + ")"));
        } catch (IOException e) {
            throw wrong("the body is not JSON in UTF-8");
        } catch (NumberFormatException e) {
            throw wrong("the body has a number that is too large");
        }
        if (node == null || !node.isObject()) {
            throw wrong("the body is not a JSON object (expected: {…})");
        }
        return new EventBody(node, "");
    }

    private static HandlerException wrong(String detail) {
        return HandlerException.of(Reason.BAD_REQUEST, detail);
    }

    /** The failure for a field that has another value than expected. */
    public HandlerException wrong(String path, String what, String expected) {
        return wrong(within + path + ": " + what + " (expected: " + expected + ")");
    }

    private JsonNode at(String path) {
        JsonNode here = node;
        for (String name : path.split("\\.", -1)) {
            here = here.path(name);
        }
        return here;
    }

    /** A text that is there and not empty. Throws HandlerException BAD_REQUEST. */
    public String required(String path) {
        String text = text(path);
        if (text.isEmpty()) {
            throw wrong(path, "missing", "a string");
        }
        return text;
    }

    /** A text or number; empty if it is absent. Throws HandlerException BAD_REQUEST for other values. */
    public String text(String path) {
        JsonNode value = at(path);
        if (value.isMissingNode() || value.isNull()) {
            return "";
        }
        if (!value.isTextual() && !value.isNumber()) {
            throw wrong(path, "not a string", "a string");
        }
        String text = value.asText();
        if (text.indexOf('\0') >= 0) {
            throw wrong(path, "a NUL character", "a string without");
        }
        return text;
    }

    /** The first text of several that is there; empty if none is. */
    public String first(String... paths) {
        for (String path : paths) {
            String text = text(path);
            if (!text.isEmpty()) {
                return text;
            }
        }
        return "";
    }

    /** Whether a flag is set. */
    public boolean flag(String path) {
        return at(path).asBoolean(false);
    }

    /** Whether an object or list is there. */
    public boolean has(String path) {
        return at(path).isContainerNode();
    }

    /** A number, whatever way it is written; null if it is absent. Throws HandlerException BAD_REQUEST. */
    public @Nullable BigDecimal number(String path) {
        String text = text(path);
        try {
            return text.isEmpty() ? null : new BigDecimal(text);
        } catch (NumberFormatException e) {
            throw wrong(path, "not a number", "a number");
        }
    }

    /** The objects of a list; empty if it is absent. Throws HandlerException BAD_REQUEST. */
    public List<EventBody> objects(String path) {
        JsonNode list = at(path);
        if (!list.isMissingNode() && !list.isNull() && !list.isArray()) {
            throw wrong(path, "not a list", "a list");
        }
        if (list.size() > MAX_ITEMS) {
            throw wrong(path, list.size() + " items", "at most " + MAX_ITEMS);
        }
        List<EventBody> objects = new ArrayList<>();
        for (JsonNode item : list) {
            objects.add(new EventBody(item, within + path + "[" + objects.size() + "]."));
        }
        return objects;
    }

    /** The texts of a list; empty if it is absent. Throws HandlerException BAD_REQUEST. */
    public List<String> texts(String path) {
        List<String> texts = new ArrayList<>();
        for (EventBody item : objects(path)) {
            if (!item.node.isTextual()) {
                throw wrong(path, "an item is not a string", "a list of strings");
            }
            texts.add(item.node.textValue());
        }
        return texts;
    }
}
