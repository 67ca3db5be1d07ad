package dev.culvert.relay.route;

import dev.culvert.config.ConfigException;
import io.netty.handler.codec.http2.Http2Headers;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A condition on a request's header section.
 *
 * @param name the field's name, in lower case
 * @param value the exact value that one field of that name must have; null: any value
 */
public record FieldRule(String name, @Nullable String value) {
    /** The configured value that means "present, with any value". */
    public static final String PRESENT = "*";

    private static final Pattern NAME = Pattern.compile("[a-z0-9!#$%&'*+.^_`|~-]{1,128}");
    private static final Pattern VALUE = Pattern.compile("[\\x20-\\x7e]{1,1024}");
    /** Fields that cannot be matched: they belong to one hop, or other keys of a route match them. */
    private static final Set<String> NOT_HERE = Set.of("host", "connection", "transfer-encoding",
            "keep-alive", "te", "upgrade", "proxy-connection", "content-length");

    public FieldRule {
        if (!NAME.matcher(name).matches() || NOT_HERE.contains(name)) {
            throw new ConfigException("headers", "names of header fields; " + name + " can't be matched");
        }
        if (value != null && !VALUE.matcher(value).matches()) {
            throw new ConfigException("headers", "values in visible ASCII, or * for any, as that of " + name);
        }
    }

    /** Parses a name and a value, {@code *} for any. Throws ConfigException for the key {@code headers}. */
    static FieldRule of(String name, String value) {
        return new FieldRule(name.toLowerCase(Locale.ROOT), value.equals(PRESENT) ? null : value);
    }

    boolean matches(Http2Headers fields) {
        if (value == null) {
            return fields.contains(name);
        }
        for (CharSequence each : fields.getAll(name)) {
            if (value.contentEquals(each)) {
                return true;
            }
        }
        return false;
    }

    @Override
    public String toString() {
        return name + ": " + (value == null ? PRESENT : value);
    }
}
