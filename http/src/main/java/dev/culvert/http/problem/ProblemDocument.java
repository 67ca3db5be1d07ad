package dev.culvert.http.problem;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.culvert.http.fields.AcceptField;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A {@link Problem} as it is sent: status, header fields, and the bytes of JSON or of a page for browsers.
 * Only this class renders problems.
 */
public final class ProblemDocument {
    private static final JsonMapper JSON = new JsonMapper();
    /** U+FFFD. */
    private static final int REPLACEMENT = 0xfffd;

    private final Problem problem;
    private final String mediaType;
    private final byte[] body;

    private ProblemDocument(Problem problem, String mediaType, byte[] body) {
        this.problem = problem;
        this.mediaType = mediaType;
        this.body = body;
    }

    /**
     * Renders {@code problem} in the media type that the caller's {@code Accept} field prefers. An empty
     * field gives JSON.
     */
    public static ProblemDocument of(Problem problem, String requestId, CharSequence accept) {
        return AcceptField.prefersHtml(accept)
                ? new ProblemDocument(problem, ProblemPage.MEDIA_TYPE, ProblemPage.of(problem, requestId))
                : of(problem, requestId);
    }

    /** Renders {@code problem} for the request with the given id. */
    public static ProblemDocument of(Problem problem, String requestId) {
        Map<String, Object> members = new LinkedHashMap<>();
        members.put("type", problem.cause().type());
        members.put("title", problem.title());
        members.put("status", problem.cause().status());
        members.put("detail", wellFormed(problem.detail()));
        members.put("hop", problem.hop().word());
        members.put("requestId", wellFormed(requestId));
        try {
            return new ProblemDocument(problem, Problem.MEDIA_TYPE, JSON.writeValueAsBytes(members));
        } catch (JsonProcessingException e) {
            throw new UncheckedIOException("strings and numbers always render", e);
        }
    }

    /**
     * Whether a JSON document that another service rendered states this cause and this hop. False for any
     * other content.
     */
    public static boolean says(byte[] json, Problem.Cause cause, Problem.Hop hop) {
        try {
            JsonNode document = JSON.readTree(json);
            return document != null && cause.type().equals(document.path("type").asText())
                    && hop.word().equals(document.path("hop").asText());
        } catch (IOException notJson) {
            return false;
        }
    }

    /** Replaces unpaired surrogates, which UTF-8 cannot encode. */
    private static String wellFormed(String text) {
        if (text.codePoints().noneMatch(ProblemDocument::isSurrogate)) {
            return text;
        }
        return text.codePoints()
                .map(c -> isSurrogate(c) ? REPLACEMENT : c)
                .collect(StringBuilder::new, StringBuilder::appendCodePoint, StringBuilder::append)
                .toString();
    }

    private static boolean isSurrogate(int codePoint) {
        return codePoint >= Character.MIN_SURROGATE && codePoint <= Character.MAX_SURROGATE;
    }

    /** The HTTP status code. */
    public int status() {
        return problem.cause().status();
    }

    /** The JSON or the page, UTF-8. Borrowed: the caller must not change it. */
    public byte[] body() {
        return body;
    }

    /**
     * All header fields, lower-case names: {@code content-type}, {@code content-length}, {@code retry-after},
     * …
     */
    public List<Field> fields() {
        List<Field> fields = new ArrayList<>(6);
        fields.add(new Field("content-type", mediaType));
        fields.add(new Field("content-length", Integer.toString(body.length)));
        // A problem concerns one request, so no cache may reuse it.
        fields.add(new Field("cache-control", "no-store"));
        if (problem.retryAfterSeconds() > 0) {
            fields.add(new Field("retry-after", Long.toString(problem.retryAfterSeconds())));
        }
        if (problem.challenge() != null) {
            fields.add(new Field("www-authenticate", problem.challenge()));
        }
        if (isPage()) {
            fields.add(new Field("content-security-policy", ProblemPage.SECURITY_POLICY));
            fields.add(new Field("x-content-type-options", "nosniff"));
        }
        return fields;
    }

    private boolean isPage() {
        return mediaType.equals(ProblemPage.MEDIA_TYPE);
    }

    /**
     * One header field.
     *
     * @param name in lower case
     * @param value one line
     */
    public record Field(String name, String value) {}
}
