package dev.culvert.appproxy.argo;

import dev.culvert.appproxy.access.Access;
import dev.culvert.appproxy.access.AuthenticatedCaller;
import dev.culvert.appproxy.access.Operation;
import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.handlers.spi.HandlerException.Reason;
import dev.culvert.handlers.spi.RequestContext;
import io.netty.handler.codec.http.HttpHeaders;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Token {@code ann} may do everything but with team blue's, token {@code bob} nothing, no other token is known. */
public final class FakeAccess implements Access {
    final List<Operation> asked = new CopyOnWriteArrayList<>();
    public final List<Operation> changed = new CopyOnWriteArrayList<>();
    /** Runs once, between permission and the change. */
    public volatile Runnable meanwhile = () -> {};

    @Override
    public Mono<AuthenticatedCaller> caller(HttpHeaders headers) {
        String token = headers.get("Authorization", "");
        return token.equals("ann") || token.equals("bob")
                ? Mono.just(new AuthenticatedCaller("acme", token, token, token + "@example.com", false))
                : Mono.error(HandlerException.of(Reason.UNAUTHORIZED, "no such token"));
    }

    @Override
    public Mono<Void> allow(AuthenticatedCaller caller, Operation operation) {
        asked.add(operation);
        boolean blue = operation.attributes().getOrDefault("label", "").contains("team=blue");
        return caller.id().equals("ann") && !blue
                ? Mono.empty()
                : Mono.error(HandlerException.of(Reason.FORBIDDEN, "not allowed"));
    }

    @Override
    public <T> Mono<T> change(AuthenticatedCaller caller, Operation operation, List<Operation> also,
            RequestContext context, Mono<T> change) {
        return allow(caller, operation)
                .thenMany(Flux.fromIterable(also).concatMap(other -> allow(caller, other)))
                .then(Mono.defer(() -> {
                    changed.add(operation);
                    Runnable between = meanwhile;
                    meanwhile = () -> {};
                    between.run();
                    return change;
                }));
    }
}
