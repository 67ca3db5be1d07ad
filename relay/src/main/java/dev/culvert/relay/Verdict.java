package dev.culvert.relay;

import dev.culvert.http.problem.Problem;
import io.netty.handler.codec.http2.Http2Headers;
import org.jspecify.annotations.Nullable;

/**
 * Receives the decision of an {@link Admission}. Callable from any thread. Only the first call counts; later
 * calls are ignored.
 */
public interface Verdict {
    /**
     * Admits the request.
     *
     * @param fields replace the request's fields of the same names; null: none. The caller must not touch
     *     them afterwards
     */
    void pass(@Nullable Http2Headers fields);

    /** Refuses the request. The problem is its response. */
    void refuse(Problem problem);

    /**
     * Answers the request with a complete response.
     *
     * @param head {@code :status} first, lower-case names, no hop-by-hop fields, no {@code content-length};
     *     the caller must not touch it afterwards
     * @param body the response body; kept, not copied
     */
    void answer(Http2Headers head, byte[] body);
}
