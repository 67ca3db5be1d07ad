package dev.culvert.server.page;

import dev.culvert.config.HostPort;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** Somebody with a browser: sends its cookie and the fields that browsers send. */
final class Visitor implements AutoCloseable {
    private static final Pattern CSRF = Pattern.compile("name=\"csrf\" value=\"([^\"]+)\"");

    private final HttpClient client = HttpClient.newHttpClient();
    private final HostPort address;
    String cookie = "";

    Visitor(HostPort address) {
        this.address = address;
    }

    /** An answer. */
    record Answer(int status, HttpResponse<byte[]> response) {
        String text() {
            return new String(response.body(), StandardCharsets.UTF_8);
        }

        String field(String name) {
            return response.headers().firstValue(name).orElse("");
        }
    }

    HttpRequest.Builder request(String path) {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create("http://" + address + path));
        return cookie.isEmpty() ? request : request.header("cookie", cookie);
    }

    Answer send(HttpRequest.Builder request) {
        try {
            HttpResponse<byte[]> response = client.send(request.build(), BodyHandlers.ofByteArray());
            return new Answer(response.statusCode(), response);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            throw new IllegalStateException("interrupted", e);
        }
    }

    /** Sends a request, and returns with the head of the answer. */
    HttpResponse<InputStream> open(HttpRequest.Builder request) {
        try {
            return client.send(request.build(), BodyHandlers.ofInputStream());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            throw new IllegalStateException("interrupted", e);
        }
    }

    Answer get(String path) {
        return send(request(path));
    }

    /** Sends a form as a page of the same origin does. */
    Answer post(String path, Map<String, String> fields) {
        return send(form(path, fields).header("origin", "http://" + address));
    }

    HttpRequest.Builder form(String path, Map<String, String> fields) {
        String body = fields.entrySet()
                .stream()
                .map(field -> field.getKey() + "="
                        + URLEncoder.encode(field.getValue(), StandardCharsets.UTF_8))
                .collect(Collectors.joining("&"));
        return request(path).header("content-type", "application/x-www-form-urlencoded")
                .POST(BodyPublishers.ofString(body));
    }

    /** Logs in, and keeps the cookie. */
    Answer enter(String token) {
        Answer answer = post("/login", Map.of("token", token, "to", "/"));
        String set = answer.field("set-cookie");
        if (!set.isEmpty()) {
            cookie = set.substring(0, set.indexOf(';'));
        }
        return answer;
    }

    /** The token that forms of this session contain. */
    String csrf() {
        Matcher found = CSRF.matcher(get("/").text());
        if (!found.find()) {
            throw new IllegalStateException("the page has no form");
        }
        return found.group(1);
    }

    @Override
    public void close() {
        client.shutdownNow();
    }
}
