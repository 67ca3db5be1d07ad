package dev.culvert.platform.runtimes;

import dev.culvert.handlers.rest.JsonFields;
import dev.culvert.handlers.spi.EdgeResponse;
import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.handlers.spi.HandlerException.Reason;
import dev.culvert.platform.host.rest.CallScope;
import dev.culvert.platform.host.rest.JsonBodies;
import dev.culvert.platform.host.rest.RestCall;
import dev.culvert.platform.host.rest.RestCall.Who;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpResponseStatus;
import java.util.List;
import reactor.core.publisher.Mono;

/** The REST calls of runtimes' installers. */
final class ArgoRuntimeCalls {
    static final String ALL = "/api/argo-runtime";
    private static final String STORE_KEY = "/api/argo-runtime/{name}/storeKey";

    private ArgoRuntimeCalls() {}

    record NewRuntime(String name) {
        static NewRuntime of(JsonFields fields) {
            return new NewRuntime(fields.text("name"));
        }
    }

    record Token(String token) {
        @Override
        public String toString() {
            return "***";
        }
    }

    record StoreKey(String storeKey) {
        @Override
        public String toString() {
            return "***";
        }
    }

    static List<RestCall> of(Runtimes runtimes) {
        return List.of(
                RestCall.of(HttpMethod.POST, ALL, Who.ADMIN,
                        "Creates a runtime with a tunnel; the answer alone shows its token",
                        scope -> create(runtimes, scope)).takes(NewRuntime.class).gives(Token.class),
                RestCall.of(HttpMethod.GET, STORE_KEY, Who.HOLDER,
                        "The key with which a runtime's cluster encrypts the Git tokens that it holds",
                        scope -> storeKey(runtimes, scope)).gives(StoreKey.class));
    }

    private static Mono<EdgeResponse.Http> create(Runtimes runtimes, CallScope scope) {
        return JsonBodies.read(scope.request(), NewRuntime.class, NewRuntime::of)
                .flatMap(wanted -> runtimes.create(scope.account(),
                        InstallationArgs.named(scope.account(), wanted.name())))
                .map(made -> JsonBodies.answer(HttpResponseStatus.OK, new Token(made.token()))
                        .with("location", ALL + "/" + made.name()));
    }

    private static Mono<EdgeResponse.Http> storeKey(Runtimes runtimes, CallScope scope) {
        String name = scope.segment("name");
        if (!scope.caller().isAdmin() && !name.equals(scope.caller().runtime())) {
            return Mono.error(HandlerException.of(Reason.FORBIDDEN,
                    "only the runtime itself and administrators of the account may ask this"));
        }
        return runtimes.storeKey(scope.account(), name)
                .map(key -> JsonBodies.answer(HttpResponseStatus.OK, new StoreKey(key)));
    }
}
