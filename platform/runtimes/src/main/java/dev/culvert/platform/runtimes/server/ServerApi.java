package dev.culvert.platform.runtimes.server;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.culvert.http.net.OutboundCalls;
import dev.culvert.platform.runtimes.store.Credential;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpMethod;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/**
 * The tunnel server's admin API, as a registrar calls it. The token's file is read for each call. Safe for
 * use by any thread; never blocks.
 */
public final class ServerApi {
    private static final String RUNTIMES = "/api/v1/runtimes";
    private static final int MAX_ANSWER_BYTES = 16 << 20;
    private static final int PAGE = 500;
    private static final Duration TIMEOUT = Duration.ofSeconds(10);
    private static final JsonMapper JSON = new JsonMapper();

    private final OutboundCalls calls;
    private final String url;
    private final Path tokenFile;

    /** @param url scheme, host and port */
    public ServerApi(OutboundCalls calls, String url, Path tokenFile) {
        this.calls = calls;
        this.url = url.endsWith("/") ? url.substring(0, url.length() - 1) : url;
        this.tokenFile = tokenFile;
    }

    /** The outcome of a change. */
    public sealed interface Outcome {
        /** It is made, now or before. */
        record Done() implements Outcome {}

        /** The server will not make it, however often it is asked. */
        record Refused(String reason) implements Outcome {}
    }

    /**
     * A page of the registrar's runtimes.
     *
     * @param names {@code account/name}
     * @param connected those that have a tunnel now
     * @param next where the next page begins; null: this is the last one
     */
    public record Page(List<String> names, List<String> connected, @Nullable String next) {
        public Page {
            names = List.copyOf(names);
            connected = List.copyOf(connected);
        }
    }

    /**
     * Makes a change. Errors: IOException, which is to be tried again; its message is for operators.
     *
     * @param credential of the client of a created runtime with a tunnel; null: it has none
     */
    public Mono<Outcome> send(ServerMessage message, @Nullable Credential credential) {
        return switch (message) {
            case ServerMessage.Create create -> call(HttpMethod.POST, RUNTIMES, create.body(credential))
                    .flatMap(answer -> outcome(answer, 201));
            case ServerMessage.Delete delete -> call(HttpMethod.DELETE,
                    RUNTIMES + "/" + encoded(delete.account()) + "/" + encoded(delete.name())
                            + (delete.force() ? "?pending=delete" : ""),
                    null)
                    .flatMap(answer -> answer.status() == 404
                            ? Mono.just(new Outcome.Done())
                            : outcome(answer, 204));
        };
    }

    /** A page of the runtimes that this registrar has created. Errors: IOException. */
    public Mono<Page> page(@Nullable String next) {
        return call(HttpMethod.GET,
                RUNTIMES + "?limit=" + PAGE + (next == null ? "" : "&next=" + encoded(next)), null)
                .flatMap(answer -> answer.status() == 200
                        ? Mono.fromCallable(() -> page(JSON.readTree(answer.body())))
                        : Mono.error(failed(answer)));
    }

    private static Page page(JsonNode list) {
        List<String> names = new ArrayList<>();
        List<String> connected = new ArrayList<>();
        for (JsonNode item : list.path("items")) {
            String name = item.path("account").asText() + "/" + item.path("name").asText();
            names.add(name);
            if (item.path("state").asText().equals("connected")) {
                connected.add(name);
            }
        }
        return new Page(names, connected, list.path("next").textValue());
    }

    /** What fails for a reason that may pass is an error. */
    private static Mono<Outcome> outcome(OutboundCalls.Answer answer, int good) {
        int status = answer.status();
        if (status == good) {
            return Mono.just(new Outcome.Done());
        }
        return status == 400 || status == 409
                ? Mono.just(new Outcome.Refused(detail(answer)))
                : Mono.error(failed(answer));
    }

    private static IOException failed(OutboundCalls.Answer answer) {
        return new IOException(
                "the tunnel server's admin API answers " + answer.status() + ": " + detail(answer));
    }

    private static String detail(OutboundCalls.Answer answer) {
        try {
            String detail = JSON.readTree(answer.body()).path("detail").asText();
            return detail.length() > 400 ? detail.substring(0, 400) + "…" : detail;
        } catch (IOException e) {
            return "not a problem document";
        }
    }

    private Mono<OutboundCalls.Answer> call(HttpMethod method, String path, @Nullable Object body) {
        return Mono.fromCallable(() -> Files.readString(tokenFile, StandardCharsets.US_ASCII).strip())
                .subscribeOn(Schedulers.boundedElastic())
                .onErrorMap(IOException.class,
                        e -> new IOException("the registrar's token can't be read: " + tokenFile, e))
                .flatMap(
                        token -> calls.send(new OutboundCalls.Call(method, URI.create(url + path), fields -> {
                            fields.set(HttpHeaderNames.AUTHORIZATION, "Bearer " + token);
                            fields.set(HttpHeaderNames.ACCEPT, "application/json");
                            if (body != null) {
                                fields.set(HttpHeaderNames.CONTENT_TYPE, "application/json");
                            }
                        }, body == null ? null : bytes(body)), MAX_ANSWER_BYTES, TIMEOUT));
    }

    private static byte[] bytes(Object body) {
        try {
            return JSON.writeValueAsBytes(body instanceof Map<?, ?> map ? map : Map.of());
        } catch (JsonProcessingException e) {
            throw new UncheckedIOException("maps of strings always render", e);
        }
    }

    private static String encoded(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8);
    }
}
