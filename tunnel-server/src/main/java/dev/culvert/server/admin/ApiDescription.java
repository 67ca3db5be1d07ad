package dev.culvert.server.admin;

import dev.culvert.admin.AdminRoute;
import dev.culvert.handlers.spi.EdgeResponse;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpResponseStatus;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import reactor.core.publisher.Mono;

/**
 * The API's description: a file of this jar, served to anyone because it holds nothing secret.
 */
final class ApiDescription {
    private ApiDescription() {}

    static List<AdminRoute> routes() {
        return List.of(page("/openapi.yaml", "openapi.yaml", "application/yaml"));
    }

    private static AdminRoute page(String path, String file, String mediaType) {
        byte[] content = read(file);
        return new AdminRoute(HttpMethod.GET, path,
                (request, segments) -> Mono.fromSupplier(() -> EdgeResponse.Http
                        .of(HttpResponseStatus.OK, mediaType, content)
                        .with("cache-control", "no-cache")));
    }

    private static byte[] read(String resource) {
        try (var stream = ApiDescription.class.getResourceAsStream(resource)) {
            if (stream == null) {
                throw new IOException("the jar has no " + resource);
            }
            return stream.readAllBytes();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
