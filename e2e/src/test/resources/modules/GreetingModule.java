package com.example.greeting;

import dev.culvert.config.Setting;
import dev.culvert.handlers.spi.EdgeHandler;
import dev.culvert.handlers.spi.HandlerContext;
import dev.culvert.platform.host.rest.JsonBodies;
import dev.culvert.platform.host.rest.RestApi;
import dev.culvert.platform.host.rest.RestCall;
import dev.culvert.platform.host.rest.RestCall.Who;
import dev.culvert.platform.host.spi.PlatformModule;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpResponseStatus;
import java.util.List;
import reactor.core.publisher.Mono;

/** Answers {@code GET /api/greeting} of everyone with a key. */
public final class GreetingModule implements PlatformModule {
    /** What {@code handlers.greeting} may say. */
    public record Settings(@Setting(value = "How it greets", byDefault = "Hello") String word) {}

    /** The answer. */
    public record Greeting(String text) {}

    @Override
    public String name() {
        return "greeting";
    }

    @Override
    public List<String> mounts() {
        return List.of("/api/greeting");
    }

    @Override
    public Class<Settings> settings() {
        return Settings.class;
    }

    @Override
    public EdgeHandler create(HandlerContext context) {
        String word = context.settings(Settings.class).word();
        RestCall greet = RestCall.of(HttpMethod.GET, "/api/greeting", Who.HOLDER, "Greets the caller",
                scope -> Mono.fromSupplier(() -> JsonBodies.answer(HttpResponseStatus.OK,
                        new Greeting(word + ", " + scope.caller().getName() + "!"))))
                .gives(Greeting.class);
        return RestApi.of(name(), context, List.of(greet));
    }
}
