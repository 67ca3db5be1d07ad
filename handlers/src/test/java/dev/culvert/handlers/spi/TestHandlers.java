package dev.culvert.handlers.spi;

import dev.culvert.handlers.host.HandlerHost;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http.DefaultHttpHeaders;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpResponseStatus;
import java.net.InetSocketAddress;
import java.util.List;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Hosts and handlers for the tests of this package. */
public final class TestHandlers {
    private TestHandlers() {}

    public static HandlerHost host(EdgeHandlerProvider... providers) {
        return host(HandlerLimits.defaults(), new SimpleMeterRegistry(), providers);
    }

    static HandlerHost host(HandlerLimits limits, MeterRegistry registry,
            EdgeHandlerProvider... providers) {
        return new HandlerHost(new HandlerHost.Setup(List.of(providers), provider -> new Context(),
                (name, asked) -> limits, registry, "/graphql/"));
    }

    public static EdgeHandlerProvider at(String name, String mount, EdgeHandler handler) {
        return new EdgeHandlerProvider() {
            @Override
            public String name() {
                return name;
            }

            @Override
            public List<String> mounts() {
                return List.of(mount);
            }

            @Override
            public EdgeHandler create(HandlerContext context) {
                return handler;
            }
        };
    }

    public static EdgeRequest get(String target) {
        return request(target, Flux.empty());
    }

    public static EdgeRequest request(String target, Flux<ByteBuf> body) {
        return new EdgeRequest(HttpMethod.GET, target, new DefaultHttpHeaders(), body,
                RequestContext.of("r", InetSocketAddress.createUnresolved("127.0.0.1", 1)));
    }

    public static Mono<EdgeResponse> ok() {
        return Mono.fromSupplier(() -> EdgeResponse.Http.empty(HttpResponseStatus.OK));
    }

    /** A part that offers nothing. */
    public static final class Context implements HandlerContext {
        @Override
        public <T extends Record> T settings(Class<T> type) {
            throw new IllegalArgumentException(type.getName());
        }

        @Override
        public <S> S service(Class<S> type) {
            throw new IllegalArgumentException("no service " + type.getName());
        }

        @Override
        public String version() {
            return "1";
        }

        @Override
        public @Nullable String runtime() {
            return null;
        }

        @Override
        public List<String> handlers() {
            return List.of();
        }
    }
}
