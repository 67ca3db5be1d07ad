package dev.culvert.client.dial;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.json.JsonMapper;

/** Reads the body of a server's refusal (RFC 9457). */
final class Refusal {
    private static final JsonMapper JSON = new JsonMapper();
    private static final int MAX_TEXT = 200;

    private Refusal() {}

    /** The problem's detail. For any other body the printable beginning of the text. */
    static String detail(String body) {
        String text = body;
        try {
            var detail = JSON.readTree(body).path("detail");
            text = detail.isTextual() ? detail.asText() : body;
        } catch (JsonProcessingException e) {
            // not a problem document, but for example the page of a proxy
        }
        String printable = text.replaceAll("[^ -~]+", " ").strip();
        return printable.length() > MAX_TEXT ? printable.substring(0, MAX_TEXT) + "…" : printable;
    }
}
