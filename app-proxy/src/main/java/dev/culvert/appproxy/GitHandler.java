package dev.culvert.appproxy;

import dev.culvert.edge.spi.EdgeHandler;
import dev.culvert.edge.spi.EdgeRequest;
import dev.culvert.edge.spi.EdgeResponse;
import dev.culvert.edge.spi.HandlerException;
import dev.culvert.edge.spi.HandlerException.Reason;
import reactor.core.publisher.Mono;

/** Decides which Git requests are served and hands them to {@link GitBackend}. */
final class GitHandler implements EdgeHandler {
    private final GitBackend backend;
    private final boolean allowPush;

    GitHandler(GitBackend backend, boolean allowPush) {
        this.backend = backend;
        this.allowPush = allowPush;
    }

    @Override
    public Mono<EdgeResponse> handle(EdgeRequest request) {
        GitCall call = GitCall.of(request);
        if (call.service() == GitCall.Service.RECEIVE_PACK && !allowPush) {
            return Mono.error(HandlerException.of(Reason.NOT_ALLOWED, "this cluster takes no pushes"));
        }
        return backend.serve(call, request);
    }
}
