package dev.culvert.standins.git;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * A response of the REST API.
 *
 * @param status the status
 * @param fields further header fields
 * @param body the body, rendered as JSON
 */
record ProviderAnswer(int status, Map<String, String> fields, Object body) {
    static ProviderAnswer of(int status, Object body) {
        return new ProviderAnswer(status, Map.of(), body);
    }

    ProviderAnswer with(String name, String value) {
        var more = new LinkedHashMap<>(fields);
        more.put(name, value);
        return new ProviderAnswer(status, more, body);
    }
}
