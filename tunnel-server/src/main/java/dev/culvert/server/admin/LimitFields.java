package dev.culvert.server.admin;

import dev.culvert.config.ByteSize;
import dev.culvert.handlers.rest.JsonFields;
import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.handlers.spi.HandlerException.Reason;
import dev.culvert.relay.quota.OwnLimits;
import dev.culvert.relay.quota.RuntimeLimit;
import java.util.EnumMap;
import java.util.Map;
import java.util.Set;

/**
 * Parses the limits of a request's JSON object. An error is answered 400 with the key, the value and the
 * accepted values.
 */
final class LimitFields {
    private LimitFields() {}

    /** Reads the given limits; null counts as absent. Throws HandlerException with {@code BAD_REQUEST}. */
    static OwnLimits read(byte[] body) {
        return JsonFields.read(body, Set.copyOf(RuntimeLimit.keys()), LimitFields::limits);
    }

    private static OwnLimits limits(JsonFields fields) {
        Map<RuntimeLimit, Long> given = new EnumMap<>(RuntimeLimit.class);
        for (RuntimeLimit limit : RuntimeLimit.values()) {
            String text = fields.optionalScalar(limit.key());
            if (text != null) {
                given.put(limit, value(limit, text));
            }
        }
        return new OwnLimits(given);
    }

    private static long value(RuntimeLimit limit, String text) {
        long value = -1;
        try {
            value = limit.isSize() ? ByteSize.parse(text).bytes() : Long.parseLong(text);
        } catch (IllegalArgumentException | ArithmeticException e) {
            // reported below, as any other invalid value
        }
        if (!limit.takes(value)) {
            throw HandlerException.of(Reason.BAD_REQUEST,
                    limit.key() + ": " + shown(text) + " (expected: " + limit.accepts() + ")");
        }
        return value;
    }

    private static String shown(String text) {
        return text.length() > 40 ? text.substring(0, 40) + "…" : text;
    }
}
