package dev.culvert.handlers.graphql;

import dev.culvert.handlers.spi.RequestContext;
import io.netty.handler.codec.http.HttpHeaders;
import java.util.Map;
import java.util.function.LongConsumer;

/**
 * One root field that a caller requests.
 *
 * @param arguments the field's arguments, coerced by the schema to maps, lists, strings, numbers and
 *     booleans; omitted arguments are absent
 * @param headers the request's header fields, including {@code Authorization}
 * @param context the context of the request
 * @param memory counts bytes for the caller, as {@link #claim}
 */
public record GraphQlCall(Map<String, Object> arguments, HttpHeaders headers, RequestContext context,
        LongConsumer memory) {
    /** A call whose memory nobody counts. */
    public GraphQlCall(Map<String, Object> arguments, HttpHeaders headers, RequestContext context) {
        this(arguments, headers, context, bytes -> {});
    }

    /**
     * Counts memory for the caller until the value of the field is complete, for example that of a file,
     * before it is loaded. The value itself is counted without this. Callable from any thread.
     *
     * <p>Throws HandlerException OVERLOADED if there is not as much, or the call has ended: the field fails
     * with that.
     */
    public void claim(long bytes) {
        memory.accept(bytes);
    }
}
