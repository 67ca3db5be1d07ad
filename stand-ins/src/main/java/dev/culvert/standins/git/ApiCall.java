package dev.culvert.standins.git;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

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

    /**
     * The part of the list for the page in the query.
     *
     * @param sizes the parameter with the page size
     */
    Slice page(List<HostedRepository> all, String sizes, int byDefault, int max) {
        return Slice.page(all, number("page", 1), Math.min(max, number(sizes, byDefault)));
    }

    /** The repository of a path {@code <root>/owner/name…}, or null. */
    @Nullable
    HostedRepository repository(String root) {
        return segments.size() < 3 || !segments.get(0).equals(root)
                ? null
                : host.find(segments.get(1) + "/" + segments.get(2)).orElse(null);
    }

    /** Whether the members of the body name branches of the repository. */
    boolean hasBranches(HostedRepository repository, String... pointers) throws IOException {
        for (String pointer : pointers) {
            if (!host.hasBranch(repository, text(pointer).replace("refs/heads/", ""))) {
                return false;
            }
        }
        return true;
    }

    /** Whether a pull request was created from the same branch. */
    boolean hasPull(HostedRepository repository, String head) {
        return host.made("pull")
                .stream()
                .anyMatch(pull -> pull.repository().equals(repository.fullName())
                        && pull.body().at(head).equals(body.at(head)));
    }

    /** Creates an object from the body. */
    HostedObject make(String kind, HostedRepository repository) {
        return host.make(kind, repository, user, body);
    }
}
