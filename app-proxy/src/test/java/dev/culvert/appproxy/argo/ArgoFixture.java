package dev.culvert.appproxy.argo;

import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.appproxy.argo.api.ApiSettings;
import dev.culvert.handlers.graphql.GraphQlCall;
import dev.culvert.handlers.graphql.GraphQlFunction;
import dev.culvert.handlers.spi.EdgeRequest;
import dev.culvert.handlers.spi.HandlerContext;
import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.handlers.spi.RequestContext;
import dev.culvert.http.net.EventLoops;
import dev.culvert.standins.argo.ClusterStandIn;
import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http.DefaultHttpHeaders;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpMethod;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;

/** A cluster with stand-ins of Argo's servers, and handlers that work on it. */
public final class ArgoFixture implements AutoCloseable {
    public static final Duration TIME = Duration.ofMinutes(1);
    static final String TOKEN = "cluster-token";

    final EventLoops loops = EventLoops.create(1);
    public final FakeAccess access = new FakeAccess();
    public final ClusterStandIn cluster = Objects
            .requireNonNull(ClusterStandIn.start(loops, TOKEN).block(TIME));
    private final Path tokenFile;

    public ArgoFixture(Path folder) throws IOException {
        tokenFile = Files.writeString(folder.resolve("token"), TOKEN + "\n");
    }

    /** Settings of an API of the cluster. */
    public ApiSettings api(URI url) {
        return new ApiSettings(url, tokenFile, null);
    }

    public HandlerContext context(Record settings) {
        return new HandlerContext() {
            @Override
            public <T extends Record> T settings(Class<T> type) {
                return type.cast(settings);
            }

            @Override
            public <S> S service(Class<S> type) {
                return type.cast(access);
            }

            @Override
            public String version() {
                return "test";
            }

            @Override
            public String runtime() {
                return "acme/prod";
            }

            @Override
            public List<String> handlers() {
                return List.of();
            }
        };
    }

    /** Calls a root field as a user; what it answers. */
    public static Map<?, ?> call(GraphQlFunction function, String field, String user,
            Map<String, Object> arguments) {
        Object answer = Objects.requireNonNull(function.fields().get(field))
                .call(new GraphQlCall(arguments, headers(user), requestContext()))
                .block(TIME);
        return (Map<?, ?>) Objects.requireNonNull(answer);
    }

    /** Calls a root field that must fail; why it did. */
    public static HandlerException refused(GraphQlFunction function, String field, String user,
            Map<String, Object> arguments) {
        try {
            Map<?, ?> answer = call(function, field, user, arguments);
            throw new AssertionError("answered " + answer);
        } catch (HandlerException e) {
            return e;
        }
    }

    public static EdgeRequest get(String target, String user) {
        return new EdgeRequest(HttpMethod.GET, target, headers(user), Flux.empty(), requestContext());
    }

    public static Map<String, Object> named(String namespace, String name) {
        return Map.of("namespace", namespace, "name", name);
    }

    public static void reason(HandlerException failure, HandlerException.Reason reason,
            @Nullable String text) {
        assertThat(failure.reason()).isEqualTo(reason);
        if (text != null) {
            assertThat(failure.detail()).contains(text);
        }
    }

    public static Consumer<ByteBuf> says(String text) {
        return bytes -> {
            String said = bytes.toString(StandardCharsets.UTF_8);
            bytes.release();
            assertThat(said).contains(text);
        };
    }

    @Override
    public void close() {
        cluster.stop().block(TIME);
        loops.disposeLater(Duration.ZERO, TIME).block(TIME);
    }

    private static HttpHeaders headers(String user) {
        return new DefaultHttpHeaders().set("Authorization", user);
    }

    private static RequestContext requestContext() {
        return RequestContext.of("request-1", InetSocketAddress.createUnresolved("127.0.0.1", 1));
    }
}
