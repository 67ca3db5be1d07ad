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
 * The web page and the API's description: files of this jar, served to anyone because they hold nothing
 * secret.
 */
final class AdminPages {
    /**
     * The content security policy: the page runs only its own script, connects only to this server, and can't
     * be framed.
     */
    private static final String POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
            + "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

    private AdminPages() {}

    static List<AdminRoute> routes() {
        return List.of(page("/", "index.html", "text/html; charset=utf-8"),
                page("/admin.js", "admin.js", "text/javascript; charset=utf-8"),
                page("/admin.css", "admin.css", "text/css; charset=utf-8"),
                page("/openapi.yaml", "openapi.yaml", "application/yaml"));
    }

    private static AdminRoute page(String path, String file, String mediaType) {
        byte[] content = read(file);
        return new AdminRoute(HttpMethod.GET, path,
                (request, segments) -> Mono.fromSupplier(() -> EdgeResponse.Http
                        .of(HttpResponseStatus.OK, mediaType, content)
                        .with("content-security-policy", POLICY)
                        .with("referrer-policy", "no-referrer")
                        .with("cache-control", "no-cache")));
    }

    private static byte[] read(String resource) {
        try (var stream = AdminPages.class.getResourceAsStream(resource)) {
            if (stream == null) {
                throw new IOException("the jar has no " + resource);
            }
            return stream.readAllBytes();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
