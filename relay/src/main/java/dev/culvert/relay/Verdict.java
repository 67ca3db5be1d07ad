package dev.culvert.relay;

import dev.culvert.http.problem.Problem;
import io.netty.handler.codec.http2.Http2Headers;
import org.jspecify.annotations.Nullable;

/** Where an {@link Admission} tells what it decided: once, on any thread; what is told later is ignored. */
public interface Verdict {
    /**
     * The request goes on.
     *
     * @param fields put in the place of the request's fields of the same names; null: none. Not to be touched any more
     */
    void pass(@Nullable Http2Headers fields);

    /** The request is answered with a problem. */
    void refuse(Problem problem);

    /**
     * The request is answered like this.
     *
     * @param head {@code :status} first, lower-case names, no hop-by-hop fields, no {@code content-length}; not to be touched
     *     any more
     * @param body kept, not copied
     */
    void answer(Http2Headers head, byte[] body);
}
