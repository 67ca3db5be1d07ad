package dev.culvert.appproxy.repositories.provider;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.handlers.spi.HandlerException.Reason;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** A response of a provider. */
final class ProviderReply {
    private static final JsonMapper JSON = new JsonMapper();

    private final int status;
    private final HttpHeaders fields;
    private final byte[] body;

    ProviderReply(int status, HttpHeaders fields, byte[] body) {
        this.status = status;
        this.fields = fields;
        this.body = body;
    }

    int status() {
        return status;
    }

    @Nullable
    String field(String name) {
        return fields.get(name);
    }

    /** The validator (ETag), or null. */
    @Nullable
    String tag() {
        return fields.get(HttpHeaderNames.ETAG);
    }

    int bytes() {
        return body.length;
    }

    /** The body. Throws HandlerException UPSTREAM_BAD_RESPONSE if it is not JSON. */
    JsonNode json() {
        try {
            JsonNode read = JSON.readTree(body);
            if (!read.isMissingNode()) {
                return read;
            }
        } catch (IOException e) {
            // Reported below: a body that is not JSON is of no use to the caller.
        }
        throw HandlerException.of(Reason.UPSTREAM_BAD_RESPONSE, "the Git provider's answer is no JSON");
    }

    /** Whether {@code Link} has a next page (RFC 8288). */
    boolean linksToNext() {
        return fields.getAll("Link").stream().anyMatch(link -> link.contains("rel=\"next\""));
    }
}
