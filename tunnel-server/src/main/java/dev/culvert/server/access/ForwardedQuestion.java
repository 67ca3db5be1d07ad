package dev.culvert.server.access;

import io.netty.handler.codec.http2.Http2Headers;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Makes the request fields for a forwardAuth service, with the names that Traefik uses. */
final class ForwardedQuestion {
    private static final List<String> ORIGIN = List.of("x-forwarded-for", "x-forwarded-proto",
            "x-forwarded-host", "x-forwarded-port", "x-request-id", "traceparent");

    private ForwardedQuestion() {}

    /**
     * The fields of the call to the service.
     *
     * @param fields the request's fields, ready to be forwarded
     * @param chosen further fields to pass on, if the request has them
     */
    static Map<String, List<CharSequence>> of(Http2Headers fields, List<String> chosen) {
        Map<String, List<CharSequence>> question = new HashMap<>();
        chosen.forEach(name -> put(question, name, fields.getAll(name)));
        // Last, so these fields of the edge override the chosen ones.
        ORIGIN.forEach(name -> put(question, name, fields.getAll(name)));
        put(question, "x-forwarded-method", method(fields));
        put(question, "x-forwarded-uri", list(fields.path()));
        return question;
    }

    /** RFC 8441: an extended CONNECT corresponds to GET in HTTP/1.1. */
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
