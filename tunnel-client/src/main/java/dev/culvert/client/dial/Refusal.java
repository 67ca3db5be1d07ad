package dev.culvert.client.dial;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.json.JsonMapper;

/** Reads what a server said when it refused (RFC 9457). */
final class Refusal {
    private static final JsonMapper JSON = new JsonMapper();
    private static final int MAX_TEXT = 200;

    private Refusal() {}

    /** The problem's detail; for anything else the beginning of the text, printable. */
    static String detail(String body) {
        String text = body;
        try {
            var detail = JSON.readTree(body).path("detail");
            text = detail.isTextual() ? detail.asText() : body;
        } catch (JsonProcessingException e) {
            // not a problem document: a proxy's page, say
        }
        String printable = text.replaceAll("[^ -~]+", " ").strip();
        return printable.length() > MAX_TEXT ? printable.substring(0, MAX_TEXT) + "…" : printable;
    }
}
