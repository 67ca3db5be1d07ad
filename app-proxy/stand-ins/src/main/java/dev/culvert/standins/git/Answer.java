package dev.culvert.standins.git;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * What the REST API answers.
 *
 * @param status the status
 * @param fields further header fields
 * @param body becomes JSON
 */
record Answer(int status, Map<String, String> fields, Object body) {
    static Answer of(int status, Object body) {
        return new Answer(status, Map.of(), body);
    }

    Answer with(String name, String value) {
        var more = new LinkedHashMap<>(fields);
        more.put(name, value);
        return new Answer(status, more, body);
    }
}
