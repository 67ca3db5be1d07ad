package com.example.greeting;

import dev.culvert.config.Setting;
import dev.culvert.handlers.graphql.GraphQlField;
import dev.culvert.handlers.graphql.GraphQlFunction;
import dev.culvert.handlers.spi.EdgeHandler;
import dev.culvert.handlers.spi.EdgeHandlerProvider;
import dev.culvert.handlers.spi.EdgeRequest;
import dev.culvert.handlers.spi.EdgeResponse;
import dev.culvert.handlers.spi.HandlerContext;
import dev.culvert.handlers.spi.HandlerException;
import io.netty.handler.codec.http.HttpResponseStatus;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/** Answers {@code GET /app-proxy/greeting/Ada}, and {@code { greeting(name: "Ada") { text } }}. */
public final class GreetingProvider implements EdgeHandlerProvider {
    /** What {@code plugins.greeting} may say. */
    public record Settings(@Setting(value = "How it greets", byDefault = "Hello") String word) {}

    private record Greeting(String text) {}

    @Override
    public String name() {
        return "greeting";
    }

    @Override
    public List<String> mounts() {
        return List.of("/app-proxy/greeting/");
    }

    @Override
    public EdgeHandler create(HandlerContext context) {
        return new Greeter(context.settings(Settings.class).word(), context.service(Scheduler.class));
    }

    private record Greeter(String word, Scheduler threads) implements EdgeHandler, GraphQlFunction {
        @Override
        public Mono<EdgeResponse> handle(EdgeRequest request) {
            return greeting(request.path().substring(request.path().lastIndexOf('/') + 1))
                    .map(greeting -> EdgeResponse.Http.of(HttpResponseStatus.OK, "text/plain",
                            greeting.text().getBytes(StandardCharsets.UTF_8)));
        }

        @Override
        public String schema() {
            return "type Greeting { text: String! } extend type Query { greeting(name: String!): Greeting }";
        }

        @Override
        public Map<String, GraphQlField> fields() {
            return Map.of("Query.greeting", call -> greeting((String) call.arguments().get("name")));
        }

        /** Stands for work that blocks: it runs on the handler's own threads. */
        private Mono<Greeting> greeting(String name) {
            return Mono.fromCallable(() -> {
                if (!name.matches("[A-Za-z]{1,40}")) {
                    throw HandlerException.of(HandlerException.Reason.BAD_REQUEST,
                            "a name has 1 to 40 letters");
                }
                return new Greeting(word + ", " + name + "!");
            }).subscribeOn(threads);
        }
    }
}
