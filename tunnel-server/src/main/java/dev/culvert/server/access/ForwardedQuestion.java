package dev.culvert.server.access;

import io.netty.handler.codec.http2.Http2Headers;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What a service that decides who may pass is shown of a request, in the fields that Traefik uses. */
final class ForwardedQuestion {
    private static final List<String> ORIGIN = List.of("x-forwarded-for", "x-forwarded-proto",
            "x-forwarded-host", "x-forwarded-port", "x-request-id", "traceparent");

    private ForwardedQuestion() {}

    /**
     * The fields of the question.
     *
     * @param fields the request's, ready to be forwarded
     * @param chosen which others are shown, if the request has them
     */
    static Map<String, List<CharSequence>> of(Http2Headers fields, List<String> chosen) {
        Map<String, List<CharSequence>> question = new HashMap<>();
        chosen.forEach(name -> put(question, name, fields.getAll(name)));
        // Last: whatever is chosen, these say what the edge knows.
        ORIGIN.forEach(name -> put(question, name, fields.getAll(name)));
        put(question, "x-forwarded-method", method(fields));
        put(question, "x-forwarded-uri", list(fields.path()));
        return question;
    }

    /** RFC 8441: what HTTP/1.1 calls GET. */
    private static List<CharSequence> method(Http2Headers fields) {
        CharSequence method = fields.method();
        return method != null && "CONNECT".contentEquals(method) ? List.of("GET") : list(method);
    }

    private static List<CharSequence> list(@Nullable CharSequence value) {
        return value == null ? List.of() : List.of(value);
    }

    private static void put(Map<String, List<CharSequence>> question, String name,
            List<CharSequence> values) {
        if (!values.isEmpty()) {
            question.put(name,
                    values.stream().map(CharSequence::toString).map(CharSequence.class::cast).toList());
        }
    }
}
