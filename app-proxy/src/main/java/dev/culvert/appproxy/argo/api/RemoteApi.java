package dev.culvert.appproxy.argo.api;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.MissingNode;
import dev.culvert.config.ConfigException;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.http.HttpRequest;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.http.HttpTimeoutException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/**
 * A JSON API of the cluster: the Kubernetes API, or one of Argo's, over fabric8's HTTP client. Tokens and
 * certificates are read on a bounded scheduler of its own; nothing else blocks. Safe for use by any thread
 * after {@link #open}.
 *
 * <p>Errors of all calls: {@link ApiFailure}.
 */
public final class RemoteApi {
    public static final String JSON = "application/json";
    public static final String EVENTS = "text/event-stream";

    private static final JsonMapper MAPPER = new JsonMapper();
    private static final int CONNECT_MILLIS = 5_000;

    /** An API server answers within a second; an Argo server asks one in turn. */
    private static final int ANSWER_MILLIS = 15_000;

    /** Etcd takes objects of 1.5 MiB; a page of a list has many. */
    private static final int MAX_ANSWER_BYTES = 32 << 20;
    private static final int THREADS = 4;
    private static final int QUEUED = 1_000;

    private final String name;
    private final String key;
    private final @Nullable ApiSettings settings;
    private final Scheduler files;
    private volatile @Nullable KubernetesClient client;

    /**
     * Makes an API. Opens nothing yet.
     *
     * @param name its name in errors: {@code the Argo server}
     * @param key the key of its settings: {@code handlers.workflows.kubernetes}
     * @param settings its address and credentials; null: the Kubernetes API with the pod's service account
     */
    public RemoteApi(String name, String key, @Nullable ApiSettings settings) {
        this.name = name;
        this.key = key;
        this.settings = settings;
        this.files = Schedulers.newBoundedElastic(THREADS, QUEUED, "culvert-argo", 60, true);
    }

    /** Prepares for calls. Opens no connection. Errors: {@link ConfigException} when a file can't be read. */
    public Mono<Void> open() {
        return Mono
                .<Void>fromRunnable(() -> client = new KubernetesClientBuilder().withConfig(config()).build())
                .subscribeOn(files);
    }

    /** Ends all calls and frees the threads. */
    public Mono<Void> close() {
        return Mono.<Void>fromRunnable(() -> {
            KubernetesClient opened = client;
            if (opened != null) {
                opened.close();
            }
        }).subscribeOn(Schedulers.boundedElastic()).doFinally(end -> files.dispose());
    }

    /** Gets the JSON at a path. */
    public Mono<JsonNode> read(String path) {
        return call("GET", path, JSON, null);
    }

    /**
     * Makes one call with a JSON response; an empty one is {@link MissingNode}. Always emits a value.
     * Cancelling drops the response.
     *
     * @param path the path below the base, with its query
     * @param type the media type of the body
     */
    public Mono<JsonNode> call(String method, String path, String type, @Nullable JsonNode body) {
        return send(method, path, type, body, JSON, false)
                .flatMap(answer -> collect(answer.body()).map(bytes -> {
                    if (answer.status() >= 300) {
                        throw ApiFailure.of(name, answer.status(), bytes);
                    }
                    return json(bytes);
                }));
    }

    /**
     * Emits the body of a streaming response once its head has arrived. The body is read on demand;
     * cancelling ends the exchange. The body must be subscribed once.
     */
    public Mono<Flux<byte[]>> stream(String path, String accept) {
        return send("GET", path, JSON, null, accept, true).flatMap(answer -> answer.status() < 300
                ? Mono.just(answer.body().onErrorMap(this::failure))
                : collect(answer.body()).map(bytes -> {
                    throw ApiFailure.of(name, answer.status(), bytes);
                }));
    }

    private Mono<ApiBodyStream.Answer> send(String method, String path, String type, @Nullable JsonNode body,
            String accept, boolean endless) {
        return Mono.defer(() -> {
            KubernetesClient opened = client;
            if (opened == null) {
                return Mono.error(new ApiFailure(name, ApiFailure.UNREACHED, "not open"));
            }
            HttpRequest.Builder request = opened.getHttpClient()
                    .newHttpRequestBuilder()
                    .uri(base(opened) + path)
                    .header("Accept", accept);
            if (body != null) {
                request.method(method, type, body.toString());
            } else {
                request.method(method, null, null);
            }
            if (endless) {
                request.forStreaming();
            } else {
                request.timeout(ANSWER_MILLIS, TimeUnit.MILLISECONDS);
            }
            return ApiBodyStream.send(opened.getHttpClient(), request.build());
        }).subscribeOn(files).onErrorMap(this::failure);
    }

    private static String base(KubernetesClient opened) {
        String base = opened.getConfiguration().getMasterUrl();
        return base.endsWith("/") ? base.substring(0, base.length() - 1) : base;
    }

    private Mono<byte[]> collect(Flux<byte[]> body) {
        return body.reduceWith(ByteArrayOutputStream::new, (all, chunk) -> {
            if (all.size() + chunk.length > MAX_ANSWER_BYTES) {
                throw new ApiFailure(name, 502, "the answer is larger than " + MAX_ANSWER_BYTES + " bytes");
            }
            all.writeBytes(chunk);
            return all;
        }).map(ByteArrayOutputStream::toByteArray).onErrorMap(this::failure);
    }

    private JsonNode json(byte[] bytes) {
        try {
            return bytes.length == 0 ? MissingNode.getInstance() : MAPPER.readTree(bytes);
        } catch (IOException e) {
            throw new ApiFailure(name, 502, "the answer is not JSON");
        }
    }

    private ApiFailure failure(Throwable error) {
        return switch (error) {
            case ApiFailure already -> already;
            case HttpTimeoutException late -> new ApiFailure(name, ApiFailure.TIMED_OUT, "");
            case TimeoutException late -> new ApiFailure(name, ApiFailure.TIMED_OUT, "");
            case RejectedExecutionException full -> new ApiFailure(name, 503, "");
            default -> new ApiFailure(name, ApiFailure.UNREACHED, "");
        };
    }

    private Config config() {
        ApiSettings api = settings;
        ConfigBuilder config = api == null ? new ConfigBuilder() : explicit(api);
        return config.withConnectionTimeout(CONNECT_MILLIS)
                .withRequestTimeout(ANSWER_MILLIS)
                .withRequestRetryBackoffLimit(0)
                .withHttp2Disable(true)
                .build();
    }

    private ConfigBuilder explicit(ApiSettings api) {
        ConfigBuilder config = new ConfigBuilder(Config.empty()).withMasterUrl(api.url().toString())
                .withOauthTokenProvider(() -> token(api.tokenFile()));
        Path token = api.tokenFile();
        if (token != null && !Files.isReadable(token)) {
            throw new ConfigException(key + ".tokenFile", "a file that can be read");
        }
        Path ca = api.ca();
        if (ca != null && !Files.isReadable(ca)) {
            throw new ConfigException(key + ".ca", "a PEM file of certificates");
        }
        return ca == null ? config : config.withCaCertFile(ca.toString());
    }

    /** Blocks: called on {@link #files}. */
    private static @Nullable String token(@Nullable Path file) {
        try {
            return file == null ? null : Files.readString(file).strip();
        } catch (IOException e) {
            throw new UncheckedIOException("the token file", e);
        }
    }
}
