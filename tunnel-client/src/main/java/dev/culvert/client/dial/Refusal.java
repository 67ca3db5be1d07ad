package dev.culvert.client.dial;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.json.JsonMapper;

/** Reads the body of a server's refusal (RFC 9457). */
public final class Refusal {
    /** The types of Culvert's problems begin so. */
    public static final String PROBLEM = "urn:culvert:problem:";
    /** What to say of an answer that {@link #isOfEdge}. */
    public static final String EDGE_ANSWERED = "this is the edge, which is for callers; the tunnel listener has"
            + " another port (7443 unless tunnel.listen says otherwise), or another host name on a shared port";

    private static final JsonMapper JSON = new JsonMapper();
    private static final int MAX_TEXT = 200;

    private Refusal() {}

    /** Whether a problem of this type comes from the edge listener: the tunnel's looks up no host. */
    public static boolean isOfEdge(String type) {
        return type.equals(PROBLEM + "unknown-host");
    }

    /** The problem's detail. For any other body the printable beginning of the text. */
    static String detail(String body) {
        String text = body;
        try {
            var problem = JSON.readTree(body);
            if (isOfEdge(problem.path("type").asText())) {
                return EDGE_ANSWERED;
            }
            var detail = problem.path("detail");
            text = detail.isTextual() ? detail.asText() : body;
        } catch (JsonProcessingException e) {
            // not a problem document, but for example the page of a proxy
        }
        String printable = text.replaceAll("[^ -~]+", " ").strip();
        return printable.length() > MAX_TEXT ? printable.substring(0, MAX_TEXT) + "…" : printable;
    }
}
