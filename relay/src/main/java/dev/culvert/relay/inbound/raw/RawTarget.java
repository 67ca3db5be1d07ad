package dev.culvert.relay.inbound.raw;

import dev.culvert.http.problem.EdgeException;
import dev.culvert.http.problem.Problem;
import dev.culvert.http.problem.Problem.Cause;
import dev.culvert.http.problem.Problem.Hop;
import dev.culvert.relay.exchange.EdgeRuntimes;
import org.jspecify.annotations.Nullable;

/**
 * The target of a raw connection.
 *
 * @param name the server name of the handshake
 * @param service the name's first label, if the rest is a host of the runtime; null: the whole name is a host
 *     of the runtime
 */
record RawTarget(EdgeRuntimes.RuntimeEndpoint runtime, String name, @Nullable String service) {

    /**
     * Finds the runtime that has the name as a host. If there is none, finds the runtime that has the name
     * without its first label as a host.
     *
     * @throws EdgeException if no runtime has such a host
     */
    static RawTarget of(@Nullable String name, EdgeRuntimes runtimes) {
        if (name == null) {
            throw unknown("the handshake asks for no server name");
        }
        EdgeRuntimes.RuntimeEndpoint whole = runtimes.byHost(name);
        if (whole != null) {
            return new RawTarget(whole, name, null);
        }
        int dot = name.indexOf('.');
        EdgeRuntimes.RuntimeEndpoint parent = dot <= 0 ? null : runtimes.byHost(name.substring(dot + 1));
        if (parent == null) {
            throw unknown("no runtime has this host");
        }
        return new RawTarget(parent, name, name.substring(0, dot));
    }

    private static EdgeException unknown(String detail) {
        return new EdgeException(Problem.of(Cause.UNKNOWN_HOST, Hop.EDGE, detail));
    }
}
