package dev.culvert.appproxy.repositories;

import dev.culvert.appproxy.access.Access;
import dev.culvert.appproxy.access.AuthenticatedCaller;
import dev.culvert.appproxy.access.Operation;
import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.handlers.spi.HandlerException.Reason;
import dev.culvert.handlers.spi.RequestContext;
import io.netty.handler.codec.http.HttpHeaders;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Takes the token for the user's name; allows all but what was forbidden. */
final class FakeAccess implements Access {
    final Set<String> forbidden = new HashSet<>();
    final List<Operation> changes = new ArrayList<>();

    @Override
    public Mono<AuthenticatedCaller> caller(HttpHeaders headers) {
        String user = headers.get("Authorization");
        return user == null
                ? Mono.error(HandlerException.of(Reason.UNAUTHORIZED, "no token"))
                : Mono.just(new AuthenticatedCaller("acme", user, user, user + "@example.com",
                        user.equals("admin")));
    }

    @Override
    public Mono<Void> allow(AuthenticatedCaller caller, Operation operation) {
        return forbidden.contains(operation.action())
                || forbidden.contains(String.valueOf(operation.attributes().get("integration")))
                        ? Mono.error(HandlerException.of(Reason.FORBIDDEN, "no rule allows it"))
                        : Mono.empty();
    }

    @Override
    public <T> Mono<T> change(AuthenticatedCaller caller, Operation operation, List<Operation> also,
            RequestContext context, Mono<T> change) {
        return allow(caller, operation)
                .thenMany(Flux.fromIterable(also).concatMap(other -> allow(caller, other)))
                .then(Mono.defer(() -> {
                    changes.add(operation);
                    return change;
                }));
    }
}
