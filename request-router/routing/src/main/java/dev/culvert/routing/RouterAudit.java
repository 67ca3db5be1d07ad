package dev.culvert.routing;

import dev.culvert.http.problem.Problem;
import io.netty.handler.codec.http2.Http2Headers;
import java.net.InetAddress;
import org.jspecify.annotations.Nullable;

/**
 * Records refused requests and changes for the owner of the cluster. Callable from any thread; never blocks.
 */
public interface RouterAudit {
    /** Records nothing. */
    RouterAudit NONE = new RouterAudit() {
        @Override
        public void refused(@Nullable InetAddress caller, Http2Headers fields, Problem problem) {}

        @Override
        public void changed(String what, String by, String detail) {}
    };

    /**
     * The cluster's policy refused a request.
     *
     * @param caller the source address of the request; null if unknown
     * @param fields the head of the request; borrowed for the call
     */
    void refused(@Nullable InetAddress caller, Http2Headers fields, Problem problem);

    /**
     * The configuration or the state was changed.
     *
     * @param what a key of {@link RoutingConfig}, for example {@code policy}; or {@code pause} or {@code
     *     resume}
     * @param by the user or the origin of the change
     * @param detail the new value or the difference; empty for none
     */
    void changed(String what, String by, String detail);
}
