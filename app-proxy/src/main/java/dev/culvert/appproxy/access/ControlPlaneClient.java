package dev.culvert.appproxy.access;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.culvert.certs.tls.TlsContexts;
import dev.culvert.config.ConfigException;
import dev.culvert.http.net.EventLoops;
import dev.culvert.http.net.OutboundCalls;
import dev.culvert.http.net.OutboundCalls.Answer;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpMethod;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/**
 * Calls the control plane over HTTP, with the runtime's API key. Call {@link #open} first. Callable from any
 * thread.
 */
final class ControlPlaneClient implements AccessDirectory {
    private static final JsonMapper JSON = new JsonMapper();
    private static final int MAX_CONNECTIONS = 64;
    private static final int MAX_WAITING = 2_000;
    /** The maximum size of a response. A page of changes has some 100 KiB. */
    private static final int MAX_BYTES = 1 << 20;
    private static final int MAX_TOKEN_BYTES = 4096;

    private final ControlPlaneSettings settings;
    private final String base;
    private final EventLoops loops;
    private volatile @Nullable OutboundCalls calls;
    private volatile String token = "";

    ControlPlaneClient(ControlPlaneSettings settings, EventLoops loops) {
        this.settings = settings;
        this.base = settings.url().toString().replaceAll("/+$", "");
        this.loops = loops;
    }

    /** Reads the files. Errors: ConfigException, {@link dev.culvert.certs.CertsException}. */
    Mono<Void> open() {
        return Mono.<Void>fromCallable(() -> {
            token = readToken();
            calls = new OutboundCalls("control-plane", MAX_CONNECTIONS, MAX_WAITING, loops,
                    TlsContexts.client(settings.ca()));
            return null;
        })
                .subscribeOn(Schedulers.boundedElastic())
                .onErrorMap(IOException.class, failed -> new ConfigException("controlPlane.tokenFile",
                        "a readable file with the runtime's API key"));
    }

    /** Reads the key's file again. If it can't be read, the key stays. Completes empty. */
    Mono<Void> reload() {
        return Mono.<Void>fromCallable(() -> {
            token = readToken();
            return null;
        }).subscribeOn(Schedulers.boundedElastic()).onErrorComplete(IOException.class);
    }

    private String readToken() throws IOException {
        if (Files.size(settings.tokenFile()) > MAX_TOKEN_BYTES) {
            throw new IOException("too large");
        }
        String text = Files.readString(settings.tokenFile(), StandardCharsets.ISO_8859_1).strip();
        if (text.isEmpty() || text.chars().anyMatch(c -> c <= ' ' || c > '~')) {
            throw new IOException("no key");
        }
        return text;
    }

    @Override
    public Mono<Answers.Resolved> resolve(String presented) {
        return ask(HttpMethod.POST, "/api/tokens/resolve", Map.of("token", presented),
                Answers.Resolved.class);
    }

    @Override
    public Mono<Answers.Decision> decide(String user, Operation operation) {
        return ask(HttpMethod.POST, "/api/abac/decide", Map.of("user", user, "entity", operation.entity(),
                "action", operation.action(), "attributes", operation.attributes()), Answers.Decision.class);
    }

    @Override
    public Mono<Answers.Changes> changes(long since) {
        return ask(HttpMethod.GET, since < 0 ? "/api/changes" : "/api/changes?since=" + since, null,
                Answers.Changes.class);
    }

    @Override
    public Mono<Boolean> reachableAt(URI url) {
        return exchange(HttpMethod.PUT, "/api/runtime", json(Map.of("url", url.toString())))
                .map(answer -> switch (answer.status()) {
                    case 204 -> true;
                    case 403 -> false;
                    default -> throw refused(answer.status());
                });
    }

    Mono<Void> close() {
        OutboundCalls opened = calls;
        return opened == null ? Mono.empty() : opened.close();
    }

    private <T> Mono<T> ask(HttpMethod method, String path, @Nullable Object body, Class<T> type) {
        return exchange(method, path, body == null ? null : json(body)).map(answer -> read(answer, type));
    }

    private Mono<Answer> exchange(HttpMethod method, String path, byte @Nullable [] body) {
        return Mono
                .defer(() -> Objects.requireNonNull(calls)
                        .send(new OutboundCalls.Call(method, URI.create(base + path),
                                fields -> fields.set(HttpHeaderNames.AUTHORIZATION, token)
                                        .set(HttpHeaderNames.CONTENT_TYPE, "application/json"),
                                body), MAX_BYTES, settings.timeout()))
                .onErrorMap(ControlPlaneAway::because);
    }

    private static <T> T read(Answer answer, Class<T> type) {
        if (answer.status() != 200) {
            throw refused(answer.status());
        }
        try {
            T value = JSON.readValue(answer.body(), type);
            if (value != null) {
                return value;
            }
        } catch (IOException e) {
            throw new ControlPlaneAway("its answer can't be read");
        }
        throw new ControlPlaneAway("its answer is empty");
    }

    private static ControlPlaneAway refused(int status) {
        return status == 401 || status == 403
                ? ControlPlaneAway.refused()
                : new ControlPlaneAway("it answered " + status);
    }

    private static byte[] json(Object body) {
        try {
            return JSON.writeValueAsBytes(body);
        } catch (JsonProcessingException e) {
            throw new UncheckedIOException("maps of strings always render", e);
        }
    }
}
