package dev.culvert.appproxy.commits;

import dev.culvert.appproxy.access.Access;
import dev.culvert.appproxy.access.AuthenticatedCaller;
import dev.culvert.appproxy.access.Operation;
import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.handlers.spi.RequestContext;
import io.netty.handler.codec.http.HttpHeaders;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CopyOnWriteArraySet;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** The caller is the one that the token names. {@code nobody} may do nothing, nobody may see what is {@code hidden}. */
final class FakeAccess implements Access {
    final List<Operation> asked = new CopyOnWriteArrayList<>();
    /** Branches that nobody may see. */
    final Set<String> hidden = new CopyOnWriteArraySet<>();
    final List<Operation> changed = new CopyOnWriteArrayList<>();

    static AuthenticatedCaller caller(String name) {
        return new AuthenticatedCaller("acme", name, name + " of Acme", name + "@acme.test", false);
    }

    @Override
    public Mono<AuthenticatedCaller> caller(HttpHeaders headers) {
        return Mono.just(caller(String.valueOf(headers.get("authorization"))));
    }

    @Override
    public Mono<Void> allow(AuthenticatedCaller caller, Operation operation) {
        asked.add(operation);
        boolean unseen = operation.action().equals("VIEW")
                && hidden.contains(operation.attributes().getOrDefault("branch", ""));
        return unseen || caller.id().equals("nobody")
                ? Mono.error(HandlerException.of(HandlerException.Reason.FORBIDDEN, "not you"))
                : Mono.empty();
    }

    @Override
    public <T> Mono<T> change(AuthenticatedCaller caller, Operation operation, List<Operation> also,
            RequestContext context, Mono<T> change) {
        return allow(caller, operation)
                .thenMany(Flux.fromIterable(also).concatMap(other -> allow(caller, other)))
                .then(Mono.defer(() -> {
                    changed.add(operation);
                    return change;
                }));
    }
}
