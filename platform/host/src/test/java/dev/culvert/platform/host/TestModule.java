package dev.culvert.platform.host;

import dev.culvert.config.Setting;
import dev.culvert.handlers.graphql.GraphQlField;
import dev.culvert.handlers.graphql.GraphQlFunction;
import dev.culvert.handlers.spi.EdgeHandler;
import dev.culvert.handlers.spi.EdgeRequest;
import dev.culvert.handlers.spi.EdgeResponse;
import dev.culvert.handlers.spi.HandlerContext;
import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.handlers.spi.HandlerLimits;
import dev.culvert.handlers.spi.RequestContext;
import dev.culvert.platform.host.rest.JsonBodies;
import dev.culvert.platform.host.rest.RestApi;
import dev.culvert.platform.host.rest.RestCall;
import dev.culvert.platform.host.rest.RestCall.Who;
import dev.culvert.platform.host.spi.Callers;
import dev.culvert.platform.host.spi.PlatformCaller;
import dev.culvert.platform.host.spi.PlatformModule;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpResponseStatus;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** A module of the tests: serves {@code /api/<name>/} and the GraphQL field {@code <name>}. */
record TestModule(String name, EdgeHandler handler) implements PlatformModule {
    static final String KEY = "ada";

    /** The settings of every test module. */
    record Settings(@Setting(value = "A word", byDefault = "Hello") String word) {}

    /** Offers {@link Callers}: whoever has the key is an operator. */
    static TestModule people() {
        return new TestModule("people", request -> ok());
    }

    static Mono<EdgeResponse> ok() {
        return Mono.fromSupplier(() -> EdgeResponse.Http.empty(HttpResponseStatus.OK));
    }

    @Override
    public List<String> mounts() {
        return List.of("/api/" + name + "/");
    }

    @Override
    public Class<? extends Record> settings() {
        return Settings.class;
    }

    @Override
    public HandlerLimits limits() {
        return new HandlerLimits(8, Duration.ofSeconds(1), 2);
    }

    @Override
    public Map<Class<?>, Function<HandlerContext, ?>> services() {
        return name.equals("people") ? Map.of(Callers.class, context -> new OneKey()) : Map.of();
    }

    @Override
    public EdgeHandler create(HandlerContext context) {
        String word = context.settings(Settings.class).word();
        RestApi api = RestApi.of(name, context, List.of(RestCall.of(HttpMethod.GET, "/api/" + name + "/word",
                Who.HOLDER, "Its word",
                scope -> Mono.fromSupplier(
                        () -> JsonBodies.answer(HttpResponseStatus.OK, new Settings(word))))
                .gives(Settings.class)));
        return new Served(name, api, handler);
    }

    private record Served(String name, RestApi api,
            EdgeHandler other) implements EdgeHandler, GraphQlFunction {
        @Override
        public Mono<EdgeResponse> handle(EdgeRequest request) {
            return request.path().endsWith("/word") ? api.handle(request) : other.handle(request);
        }

        @Override
        public String schema() {
            return "extend type Query { " + name + ": String }";
        }

        @Override
        public Map<String, GraphQlField> fields() {
            return Map.of("Query." + name, call -> Mono.just(name));
        }
    }

    private record OneKey() implements Callers {
        @Override
        public Mono<PlatformCaller> caller(HttpHeaders headers, RequestContext context) {
            return KEY.equals(headers.get("authorization"))
                    ? Mono.just(new Operator(KEY))
                    : Mono.error(HandlerException.of(HandlerException.Reason.UNAUTHORIZED, "no key"));
        }

        @Override
        public Mono<String> account(PlatformCaller caller, String id) {
            return Mono.just(id);
        }
    }

    private record Operator(String getName) implements PlatformCaller {
        @Override
        public String account() {
            return "main";
        }

        @Override
        public String userId() {
            return getName;
        }

        @Override
        public @Nullable String runtime() {
            return null;
        }

        @Override
        public boolean isAdmin() {
            return true;
        }

        @Override
        public boolean isOperator() {
            return true;
        }
    }
}
