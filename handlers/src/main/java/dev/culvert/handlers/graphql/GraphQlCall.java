package dev.culvert.handlers.graphql;

import dev.culvert.handlers.spi.RequestContext;
import io.netty.handler.codec.http.HttpHeaders;
import java.util.Map;

/**
 * One root field that a caller asks for.
 *
 * @param arguments the field's arguments as the schema coerced them: maps, lists, strings, numbers, booleans; those left
 *     out are absent
 * @param headers the request's fields, {@code Authorization} among them
 * @param context what else is known of the request
 */
public record GraphQlCall(Map<String, Object> arguments, HttpHeaders headers, RequestContext context) {}
