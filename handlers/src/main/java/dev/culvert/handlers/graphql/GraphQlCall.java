package dev.culvert.handlers.graphql;

import dev.culvert.handlers.spi.RequestContext;
import io.netty.handler.codec.http.HttpHeaders;
import java.util.Map;

/**
 * One root field that a caller requests.
 *
 * @param arguments the field's arguments, coerced by the schema to maps, lists, strings, numbers and
 *     booleans; omitted arguments are absent
 * @param headers the request's header fields, including {@code Authorization}
 * @param context the context of the request
 */
public record GraphQlCall(Map<String, Object> arguments, HttpHeaders headers, RequestContext context) {}
