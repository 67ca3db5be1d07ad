package dev.culvert.appproxy;

import dev.culvert.handlers.spi.EdgeFilter;
import dev.culvert.handlers.spi.EdgeHandler;
import dev.culvert.handlers.spi.EdgeRequest;
import dev.culvert.handlers.spi.EdgeResponse;
import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.handlers.spi.HandlerException.Reason;
import dev.culvert.http.problem.EdgeException;
import io.netty.handler.codec.http.DefaultHttpHeaders;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpResponseStatus;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import reactor.core.publisher.Mono;

/**
 * Allows pages of the configured origins to call with credentials, and to read the responses, problems
 * included (CORS protocol of the Fetch standard). A preflight of another origin is refused. Requests without
 * an {@code Origin} pass untouched.
 */
final class CorsFilter implements EdgeFilter {
    private static final String METHODS = "GET,HEAD,PUT,PATCH,POST,DELETE";
    private static final String FIELDS = "authorization,content-type,x-access-token";
    private static final String MAX_AGE_SECONDS = "600";

    private final List<String> allowed;

    CorsFilter(List<String> allowOrigins) {
        allowed = allowOrigins.stream().map(origin -> origin.toLowerCase(Locale.ROOT)).toList();
    }

    @Override
    public Mono<EdgeResponse> filter(EdgeRequest request, EdgeHandler next) {
        String origin = request.headers().get(HttpHeaderNames.ORIGIN);
        if (origin == null) {
            return next.handle(request);
        }
        boolean preflight = request.method().equals(HttpMethod.OPTIONS)
                && request.headers().contains(HttpHeaderNames.ACCESS_CONTROL_REQUEST_METHOD);
        if (!allowed.contains(origin.toLowerCase(Locale.ROOT))) {
            return preflight
                    ? Mono.error(HandlerException.of(Reason.NOT_ALLOWED, "pages of this origin may not call"))
                    : next.handle(request); // the browser hides the response from the page
        }
        HttpHeaders fields = new DefaultHttpHeaders().set(HttpHeaderNames.ACCESS_CONTROL_ALLOW_ORIGIN, origin)
                .set(HttpHeaderNames.ACCESS_CONTROL_ALLOW_CREDENTIALS, "true")
                .set(HttpHeaderNames.VARY, "origin");
        return preflight
                ? Mono.fromSupplier(() -> preflight(fields))
                : next.handle(request)
                        .map(response -> with(response, fields))
                        .onErrorMap(error -> with(error, fields));
    }

    private static EdgeResponse preflight(HttpHeaders fields) {
        EdgeResponse.Http response = EdgeResponse.Http.empty(HttpResponseStatus.NO_CONTENT);
        response.headers()
                .add(fields)
                .set(HttpHeaderNames.ACCESS_CONTROL_ALLOW_METHODS, METHODS)
                .set(HttpHeaderNames.ACCESS_CONTROL_ALLOW_HEADERS, FIELDS)
                .set(HttpHeaderNames.ACCESS_CONTROL_MAX_AGE, MAX_AGE_SECONDS);
        return response;
    }

    private static EdgeResponse with(EdgeResponse response, HttpHeaders fields) {
        if (response instanceof EdgeResponse.Http http) {
            http.headers().remove(HttpHeaderNames.ACCESS_CONTROL_ALLOW_ORIGIN); // a remote handler's own
            http.headers().add(fields);
        }
        return response;
    }

    private static Throwable with(Throwable error, HttpHeaders fields) {
        return switch (error) {
            case EdgeException told ->
                new EdgeException(told.problem(), new DefaultHttpHeaders().add(told.fields()).add(fields));
            case HandlerException told -> {
                HandlerException more = told;
                for (Map.Entry<String, String> field : fields) {
                    more = more.with(field.getKey(), field.getValue());
                }
                yield more;
            }
            default -> error;
        };
    }
}
