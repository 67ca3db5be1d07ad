package dev.culvert.standins.git;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.List;
import java.util.Map;

/**
 * An authenticated call of the REST API.
 *
 * @param method the method
 * @param segments the decoded segments of the path below the API's root
 * @param query the decoded query parameters
 * @param body the received JSON; a null node without a body
 * @param host the hosted repositories and users
 * @param user the calling user
 * @param origin the origin of the stand-in: {@code http://127.0.0.1:4711}
 */
record ApiCall(String method, List<String> segments, Map<String, String> query, JsonNode body, GitHost host,
        HostedUser user, String origin) {

    /** Whether the call has this method and exactly these segments; {@code *} matches any. */
    boolean is(String expectedMethod, String... expected) {
        if (!method.equals(expectedMethod) || segments.size() != expected.length) {
            return false;
        }
        for (int i = 0; i < expected.length; i++) {
            if (!expected[i].equals("*") && !expected[i].equals(segments.get(i))) {
                return false;
            }
        }
        return true;
    }

    int number(String parameter, int byDefault) {
        String text = query.get(parameter);
        return text == null ? byDefault : Integer.parseInt(text);
    }

    /** A member of the body as text; empty if absent. */
    String text(String pointer) {
        return body.at(pointer).asText("");
    }
}
