package dev.culvert.handlers.host;

import dev.culvert.handlers.spi.EdgeHandler;
import dev.culvert.handlers.spi.EdgeRequest;
import dev.culvert.handlers.spi.EdgeResponse;
import dev.culvert.http.path.RawPath;
import dev.culvert.http.problem.EdgeException;
import dev.culvert.http.problem.Problem;
import dev.culvert.http.problem.Problem.Cause;
import dev.culvert.http.problem.Problem.Hop;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import reactor.core.publisher.Mono;

/**
 * Dispatches requests to mounted handlers. The longest mount that is a prefix of the request's path answers
 * it. Paths are compared raw; paths that would need normalising are refused with 400.
 */
final class Mounts implements EdgeHandler {
    private final List<Mount> mounts;

    /**
     * Throws IllegalArgumentException for a mount that does not start and end with a slash, or that two
     * handlers share.
     */
    Mounts(Collection<Mount> all) {
        List<Mount> sorted = new ArrayList<>();
        for (Mount mount : all) {
            if (!mount.prefix.startsWith("/") || !mount.prefix.endsWith("/")) {
                throw new IllegalArgumentException("handler " + mount.name + ": mount " + mount.prefix
                        + " (expected: a path that starts and ends with /)");
            }
            if (sorted.stream().anyMatch(other -> other.prefix.equals(mount.prefix))) {
                throw new IllegalArgumentException(
                        "handler " + mount.name + ": mount " + mount.prefix + " is taken by another handler");
            }
            sorted.add(mount);
        }
        sorted.sort(Comparator.comparingInt((Mount mount) -> mount.prefix.length()).reversed());
        mounts = List.copyOf(sorted);
    }

    @Override
    public Mono<EdgeResponse> handle(EdgeRequest request) {
        String path = request.path();
        if (!RawPath.wellFormed(path)) {
            return Mono.error(new EdgeException(Problem.of(Cause.BAD_REQUEST, Hop.EDGE,
                    "the path has dot segments, backslashes, control bytes or broken escapes")));
        }
        for (Mount mount : mounts) {
            if (mount.covers(path)) {
                return mount.handler.handle(request);
            }
        }
        return Mono.error(new EdgeException(
                Problem.of(Cause.NOT_FOUND, Hop.EDGE, "nothing is served at this path")));
    }

    /**
     * The mount of a handler.
     *
     * @param name the handler's name
     * @param prefix the path prefix; {@code /x/} covers {@code /x} and all paths below
     */
    record Mount(String name, String prefix, EdgeHandler handler) {
        boolean covers(String path) {
            return path.startsWith(prefix)
                    || (path.length() == prefix.length() - 1 && prefix.startsWith(path));
        }
    }
}
