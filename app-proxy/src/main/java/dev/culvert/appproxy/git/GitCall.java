package dev.culvert.appproxy.git;

import dev.culvert.handlers.spi.EdgeRequest;
import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.handlers.spi.HandlerException.Reason;
import io.netty.handler.codec.http.HttpMethod;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * One call of Git's smart HTTP protocol (gitprotocol-http): a ref advertisement or a service's request. All
 * other requests, such as those for files in the dumb protocol, are answered 404.
 *
 * @param repository the repository's name, without {@code .git}
 * @param service one of the two services
 * @param advertisement true for {@code GET info/refs}, false for the service's POST
 */
record GitCall(String repository, Service service, boolean advertisement) {
    /** Accepts one path segment without special meaning to shells, option parsers and file systems. */
    private static final Pattern PATH = Pattern
            .compile("([A-Za-z0-9_][A-Za-z0-9._-]{0,99})\\.git/(info/refs|git-upload-pack|git-receive-pack)");

    /** The two Git services available over HTTP. */
    enum Service {
        UPLOAD_PACK("git-upload-pack"), RECEIVE_PACK("git-receive-pack");

        private final String word;

        Service(String word) {
            this.word = word;
        }

        /** Its name on the wire. */
        String word() {
            return word;
        }
    }

    /**
     * Parses a request below the mount. Throws {@link HandlerException}: 404 for another path, 405 for
     * another method.
     */
    static GitCall of(EdgeRequest request) {
        String path = request.path();
        Matcher matcher = PATH.matcher(path.substring(Math.min(GitProvider.MOUNT.length(), path.length())));
        if (!matcher.matches()) {
            throw notFound();
        }
        boolean advertisement = matcher.group(2).equals("info/refs");
        requireMethod(request, advertisement ? HttpMethod.GET : HttpMethod.POST);
        Service service = advertisement ? advertised(request) : named(matcher.group(2));
        return new GitCall(matcher.group(1), service, advertisement);
    }

    /** The path below the folder of repositories, for CGI's PATH_INFO. */
    String pathInfo() {
        return "/" + repository + ".git/" + (advertisement ? "info/refs" : service.word());
    }

    static HandlerException notFound() {
        return HandlerException.of(Reason.NOT_FOUND, "no such repository");
    }

    private static void requireMethod(EdgeRequest request, HttpMethod method) {
        if (!request.method().equals(method)) {
            throw HandlerException.methodNotAllowed(method);
        }
    }

    private static Service advertised(EdgeRequest request) {
        String query = request.query();
        if (query == null || !query.startsWith("service=")) {
            throw notFound();
        }
        return named(query.substring("service=".length()));
    }

    private static Service named(String word) {
        for (Service service : Service.values()) {
            if (service.word().equals(word)) {
                return service;
            }
        }
        throw notFound();
    }
}
