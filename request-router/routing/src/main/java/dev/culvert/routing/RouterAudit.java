package dev.culvert.routing;

import dev.culvert.http.problem.Problem;
import io.netty.handler.codec.http2.Http2Headers;
import java.net.InetAddress;
import org.jspecify.annotations.Nullable;

/** What the cluster's owner keeps of what was refused and what was changed. Callable from any thread; never blocks. */
public interface RouterAudit {
    /** Keeps nothing. */
    RouterAudit NONE = new RouterAudit() {
        @Override
        public void refused(@Nullable InetAddress caller, Http2Headers fields, Problem problem) {}

        @Override
        public void changed(String what, String by, String detail) {}
    };

    /**
     * A request was refused by the cluster's policy.
     *
     * @param caller where it came from; null: nobody can tell
     * @param fields its head; borrowed for the call
     */
    void refused(@Nullable InetAddress caller, Http2Headers fields, Problem problem);

    /**
     * Something was changed.
     *
     * @param what a key of {@link RoutingConfig}, as {@code policy}; {@code pause} or {@code resume}
     * @param by who or what changed it
     * @param detail what it is now, or how it differs; empty: nothing to say
     */
    void changed(String what, String by, String detail);
}
