package dev.culvert.config;

import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.Arrays;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** The types that one text can hold. Parses, prints and describes them. */
final class ScalarType {
    private static final Map<Class<?>, String> ACCEPTED = Map.of(String.class, "text", HostPort.class,
            "host:port, as 127.0.0.1:8443 or [::1]:8443; port 1 to 65535, 0 for a free one", ByteSize.class,
            "a size as 512, 64KiB, 25MiB or 1GiB",
            Duration.class, "a duration as 500ms, 10s, 5m, 2h or 7d", Path.class, "a path", URI.class,
            "a URI with its scheme, as https://example.com:8443", int.class, "a whole number", long.class,
            "a whole number", boolean.class, "true or false");

    private ScalarType() {}

    static boolean handles(Class<?> type) {
        return ACCEPTED.containsKey(type) || type.isEnum();
    }

    /** Describes the accepted texts. */
    static String accepts(Class<?> type) {
        if (type.isEnum()) {
            return "one of "
                    + Arrays.stream(type.getEnumConstants())
                            .map(ScalarType::format)
                            .collect(Collectors.joining(", "));
        }
        return ACCEPTED.getOrDefault(type, "text");
    }

    /**
     * Parses a text. Throws IllegalArgumentException if it is not a value of this type. The exception's
     * message is not meant for users.
     */
    static Object parse(Class<?> type, String text, @Nullable Path folder) {
        if (type == String.class) {
            return notEmpty(text);
        } else if (type == HostPort.class) {
            return HostPort.parse(text);
        } else if (type == ByteSize.class) {
            return ByteSize.parse(text);
        } else if (type == Duration.class) {
            return duration(text);
        } else if (type == Path.class) {
            return path(notEmpty(text), folder);
        } else if (type == URI.class) {
            return uri(text);
        } else if (type == int.class) {
            return Integer.parseInt(text);
        } else if (type == long.class) {
            return Long.parseLong(text);
        } else if (type == boolean.class) {
            return flag(text);
        }
        return constant(type, text);
    }

    /** Formats a value in the notation of the file. */
    static String format(Object value) {
        return switch (value) {
            case Enum<?> constant -> constant.name().toLowerCase(Locale.ROOT).replace('_', '-');
            case Duration duration -> Durations.format(duration);
            default -> value.toString();
        };
    }

    private static Duration duration(String text) {
        Duration value = Durations.parse(text, Durations.MAX_DIGITS, ChronoUnit.MILLIS, ChronoUnit.DAYS);
        if (value == null) {
            throw new IllegalArgumentException(text);
        }
        return value;
    }

    private static Path path(String text, @Nullable Path folder) {
        try {
            return folder == null ? Path.of(text) : folder.resolve(text).normalize();
        } catch (InvalidPathException e) {
            throw new IllegalArgumentException(text, e);
        }
    }

    private static URI uri(String text) {
        try {
            URI uri = new URI(text);
            if (uri.isAbsolute() && UriHost.of(uri) != null) {
                return uri;
            }
        } catch (URISyntaxException e) {
            throw new IllegalArgumentException(text, e);
        }
        throw new IllegalArgumentException(text);
    }

    private static boolean flag(String text) {
        if (text.equals("true") || text.equals("false")) {
            return text.equals("true");
        }
        throw new IllegalArgumentException(text);
    }

    private static Object constant(Class<?> type, String text) {
        for (Object constant : type.getEnumConstants()) {
            if (format(constant).equals(text)) {
                return constant;
            }
        }
        throw new IllegalArgumentException(text);
    }

    private static String notEmpty(String text) {
        if (text.isEmpty()) {
            throw new IllegalArgumentException(text);
        }
        return text;
    }
}
