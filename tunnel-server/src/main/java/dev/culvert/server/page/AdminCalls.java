package dev.culvert.server.page;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.culvert.handlers.spi.EdgeRequest;
import dev.culvert.handlers.spi.EdgeResponse;
import dev.culvert.server.admin.AdminApi;
import dev.culvert.web.PageRequest;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http.DefaultHttpHeaders;
import io.netty.handler.codec.http.HttpMethod;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * The admin API as pages call it: the same calls, roles, audit entries and errors, without a socket between.
 * The caller is the person of the page's session.
 */
record AdminCalls(AdminApi api) {
    private static final JsonMapper JSON = new JsonMapper();

    /**
     * Makes a call. Emits the JSON of its answer; a missing node for an empty one. Errors: those of the call.
     *
     * @param body the members of its JSON body; null: none
     */
    Mono<JsonNode> call(PageRequest page, HttpMethod method, String path,
            @Nullable Map<String, ?> body) {
        EdgeRequest http = page.http();
        Flux<ByteBuf> sent = body == null
                ? Flux.empty()
                : Flux.defer(() -> Flux.just(Unpooled.wrappedBuffer(json(body))));
        return api.call(new EdgeRequest(method, path, new DefaultHttpHeaders(), sent, http.context()))
                .flatMap(AdminCalls::read);
    }

    private static Mono<JsonNode> read(EdgeResponse response) {
        if (!(response instanceof EdgeResponse.Http http)) {
            return Mono.error(new IllegalStateException("a call that pages make answers with JSON"));
        }
        return http.body().collect(ByteArrayOutputStream::new, (bytes, buffer) -> {
            byte[] some = new byte[buffer.readableBytes()];
            buffer.readBytes(some);
            buffer.release();
            bytes.writeBytes(some);
        }).map(bytes -> tree(bytes.toByteArray()));
    }

    private static byte[] json(Map<String, ?> body) {
        try {
            return JSON.writeValueAsBytes(body);
        } catch (JsonProcessingException e) {
            throw new UncheckedIOException("texts and numbers always render", e);
        }
    }

    private static JsonNode tree(byte[] bytes) {
        try {
            return bytes.length == 0
                    ? JSON.missingNode()
                    : JSON.readTree(new String(bytes, StandardCharsets.UTF_8));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
