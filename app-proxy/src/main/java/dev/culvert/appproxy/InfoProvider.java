package dev.culvert.appproxy;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.culvert.handlers.spi.EdgeHandler;
import dev.culvert.handlers.spi.EdgeHandlerProvider;
import dev.culvert.handlers.spi.EdgeRequest;
import dev.culvert.handlers.spi.EdgeResponse;
import dev.culvert.handlers.spi.HandlerContext;
import dev.culvert.handlers.spi.HandlerException;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpResponseStatus;
import java.io.UncheckedIOException;
import java.util.List;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** {@code GET /app-proxy/api/info}: the version, runtime and handlers of this App-Proxy. */
public final class InfoProvider implements EdgeHandlerProvider {
    static final String NAME = "info";

    private static final String MOUNT = "/app-proxy/api/info/";

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public List<String> mounts() {
        return List.of(MOUNT);
    }

    @Override
    public EdgeHandler create(HandlerContext context) {
        byte[] json = json(new Info(context.version(), context.runtime(), context.handlers()));
        return request -> answer(request, json);
    }

    private static Mono<EdgeResponse> answer(EdgeRequest request, byte[] json) {
        if (request.path().length() >= MOUNT.length()) {
            return Mono.error(
                    HandlerException.of(HandlerException.Reason.NOT_FOUND, "nothing is served at this path"));
        }
        if (!request.method().equals(HttpMethod.GET) && !request.method().equals(HttpMethod.HEAD)) {
            return Mono.error(HandlerException.methodNotAllowed(HttpMethod.GET, HttpMethod.HEAD));
        }
        return Mono.fromSupplier(() -> EdgeResponse.Http.of(HttpResponseStatus.OK, "application/json", json));
    }

    private static byte[] json(Info info) {
        try {
            return new JsonMapper().writeValueAsBytes(info);
        } catch (JsonProcessingException e) {
            throw new UncheckedIOException("strings always render", e);
        }
    }

    /** The members of the response. */
    record Info(String version, @Nullable String runtime, List<String> handlers) {}
}
