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
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import reactor.core.publisher.Mono;

/**
 * Dispatches requests to mounted handlers. The mount of exactly the request's path answers it, else the
 * longest one that is a prefix of it. Paths are compared raw; paths that would need normalising are refused
 * with 400.
 */
final class Mounts implements EdgeHandler {
    private final Map<String, Mount> exact = new HashMap<>();
    private final List<Mount> prefixes;

    /**
     * Throws IllegalArgumentException for a mount that does not start with a slash or that covers a path
     * which another mount has.
     */
    Mounts(Collection<Mount> all) {
        List<Mount> sorted = new ArrayList<>();
        for (Mount mount : all) {
            if (!mount.path.startsWith("/")) {
                throw new IllegalArgumentException("handler " + mount.name + ": mount " + mount.path
                        + " (expected: a path that starts with /, and ends with / when it covers what is below)");
            }
            Mount other = exact.putIfAbsent(mount.own(), mount);
            if (other != null) {
                throw new IllegalArgumentException("handlers " + other.name + " and " + mount.name
                        + " both claim the path " + mount.own() + " (expected: one of them)");
            }
            if (mount.isPrefix()) {
                sorted.add(mount);
            }
        }
        sorted.sort(Comparator.comparingInt((Mount mount) -> mount.path.length()).reversed());
        prefixes = List.copyOf(sorted);
    }

    @Override
    public Mono<EdgeResponse> handle(EdgeRequest request) {
        String path = request.path();
        if (!RawPath.wellFormed(path)) {
            return Mono.error(new EdgeException(Problem.of(Cause.BAD_REQUEST, Hop.EDGE,
                    "the path has dot segments, backslashes, control bytes or broken escapes")));
        }
        Mount here = exact.get(path);
        if (here != null) {
            return here.handler.handle(request);
        }
        for (Mount mount : prefixes) {
            if (path.startsWith(mount.path)) {
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
     * @param path the path; {@code /x/} covers {@code /x} and all paths below, {@code /x} that path alone
     */
    record Mount(String name, String path, EdgeHandler handler) {
        boolean isPrefix() {
            return path.endsWith("/");
        }

        /** The one path that no other mount may cover. */
        String own() {
            return isPrefix() && path.length() > 1 ? path.substring(0, path.length() - 1) : path;
        }
    }
}
