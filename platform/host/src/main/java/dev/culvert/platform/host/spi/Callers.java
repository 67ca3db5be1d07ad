package dev.culvert.platform.host.spi;

import dev.culvert.handlers.spi.RequestContext;
import io.netty.handler.codec.http.HttpHeaders;
import reactor.core.publisher.Mono;

/** Finds out who calls. */
public interface Callers {
    /**
     * The caller that the credentials in {@code headers} prove. Errors: HandlerException with UNAUTHORIZED
     * without valid credentials, OVERLOADED, UNAVAILABLE. Always emits a value.
     */
    Mono<PlatformCaller> caller(HttpHeaders headers, RequestContext context);

    /**
     * The account that a call acts on when its query names one ({@code ?account=ID}). Errors:
     * HandlerException with NOT_FOUND unless it is the caller's own, or exists and the caller is an operator.
     * Emits its id.
     */
    Mono<String> account(PlatformCaller caller, String id);
}
