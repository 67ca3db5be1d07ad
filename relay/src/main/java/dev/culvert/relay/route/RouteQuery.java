package dev.culvert.relay.route;

import dev.culvert.http.fields.HostName;
import io.netty.handler.codec.http2.EmptyHttp2Headers;
import io.netty.handler.codec.http2.Http2Headers;
import java.net.InetAddress;
import org.jspecify.annotations.Nullable;

/**
 * The properties of a request that routes examine.
 *
 * @param host the host in its compared form: lower case, without port and trailing dot
 * @param path the raw path
 * @param query the query as received, with its question mark, or empty
 * @param fields the header section; borrowed
 * @param caller the caller's address, in front of all trusted proxies; null: unknown
 */
public record RouteQuery(String method, String host, String path, String query, Http2Headers fields,
        @Nullable InetAddress caller) {

    /** Creates the query from a request's fields, pseudo-fields included. */
    public static RouteQuery of(Http2Headers fields, @Nullable InetAddress caller) {
        return of(String.valueOf(fields.method()), fields.authority() == null ? "" : fields.authority(),
                String.valueOf(fields.path()), fields, caller);
    }

    /** Creates the query of a request without header fields. */
    public static RouteQuery of(String method, String authority, String target) {
        return of(method, authority, target, EmptyHttp2Headers.INSTANCE, null);
    }

    private static RouteQuery of(String method, CharSequence authority, String target, Http2Headers fields,
            @Nullable InetAddress caller) {
        int question = target.indexOf('?');
        return new RouteQuery(method, HostName.of(authority.toString()),
                question < 0 ? target : target.substring(0, question),
                question < 0 ? "" : target.substring(question), fields, caller);
    }
}
