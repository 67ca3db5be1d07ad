package dev.culvert.appproxy.repositories;

import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.handlers.spi.HandlerException.Reason;
import java.net.URI;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The members of a field's argument {@code args}. */
final class RepositoryArguments {
    private final Map<?, ?> members;

    RepositoryArguments(Map<String, Object> arguments) {
        members = arguments.get("args") instanceof Map<?, ?> args ? args : Map.of();
    }

    /** The value as text; null when it is absent. */
    static @Nullable String text(@Nullable Object value) {
        return value == null ? null : value.toString();
    }

    @Nullable
    String text(String name) {
        return text(members.get(name));
    }

    String text(String name, String byDefault) {
        String text = text(name);
        return text == null ? byDefault : text;
    }

    String needed(String name) {
        String text = text(name);
        if (text == null) {
            throw wrong(name, "a text");
        }
        return text;
    }

    /** A number of 1 or more. */
    int number(String name, int byDefault, int max) {
        Object value = members.get(name);
        int number = value instanceof Number given ? given.intValue() : byDefault;
        if (number < 1 || number > max) {
            throw wrong(name, "1.." + max);
        }
        return number;
    }

    List<String> texts(String name, List<String> byDefault) {
        return members.get(name) instanceof List<?> list
                ? list.stream().map(String::valueOf).toList()
                : byDefault;
    }

    URI uri(String name) {
        try {
            URI uri = URI.create(needed(name));
            if (uri.getHost() != null && String.valueOf(uri.getScheme()).matches("https?")) {
                return uri;
            }
        } catch (IllegalArgumentException e) {
            // Reported below.
        }
        throw wrong(name, "a URL as https://host/path");
    }

    private static HandlerException wrong(String name, String expected) {
        return HandlerException.of(Reason.BAD_REQUEST,
                "args." + name + ": not usable (expected: " + expected + ")");
    }
}
