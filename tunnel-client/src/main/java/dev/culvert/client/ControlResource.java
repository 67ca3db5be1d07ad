package dev.culvert.client;

import dev.culvert.config.IpText;
import dev.culvert.handlers.spi.EdgeHandler;
import dev.culvert.handlers.spi.EdgeRequest;
import dev.culvert.handlers.spi.EdgeResponse;
import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.http.problem.EdgeException;
import dev.culvert.http.problem.Problem;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpResponseStatus;
import java.util.Map;
import java.util.function.Function;
import java.util.regex.Pattern;
import reactor.core.publisher.Mono;

/**
 * {@code POST /pause}, {@code POST /pause/now} and {@code POST /resume} of the health listener. The health
 * listener has no token and may be open to a cluster's probes, so these requests are accepted only from the
 * client's own machine or container. The peer and the requested host must be loopback, and a field is
 * required that no web page can send to another origin.
 */
final class ControlResource implements EdgeHandler {
    /** The required field. Any value is accepted. */
    static final String FIELD = "culvert-control";
    /**
     * Hosts that always mean this machine. Protects against names of a web page that resolve to loopback (DNS
     * rebinding).
     */
    private static final Pattern LOOPBACK_HOST = Pattern
            .compile("(localhost|127(\\.\\d{1,3}){3}|\\[::1])(:\\d+)?");

    private final Map<String, Function<String, Mono<Void>>> actions;
    private final EdgeHandler others;

    /**
     * @param actions the actions by path, which receive the name of the requester; subscribed on an event
     *     loop, so they must not block
     * @param others handles all other paths
     */
    ControlResource(Map<String, Function<String, Mono<Void>>> actions, EdgeHandler others) {
        this.actions = Map.copyOf(actions);
        this.others = others;
    }

    @Override
    public Mono<EdgeResponse> handle(EdgeRequest request) {
        Function<String, Mono<Void>> action = actions.get(request.path());
        if (action == null) {
            return others.handle(request);
        }
        if (!request.method().equals(HttpMethod.POST)) {
            return Mono.error(HandlerException.methodNotAllowed(HttpMethod.POST));
        }
        if (!isLocal(request) || !request.headers().contains(FIELD)) {
            return Mono.error(new EdgeException(Problem.of(Problem.Cause.NOT_ALLOWED, Problem.Hop.EDGE,
                    "only from the client's own machine or container, by 127.0.0.1 and with the field Culvert-Control,"
                            + " as culvert client pause does")));
        }
        return action.apply("operator at " + IpText.of(request.context().remote().getAddress()))
                .then(Mono.fromSupplier(() -> EdgeResponse.Http.empty(HttpResponseStatus.NO_CONTENT)));
    }

    private static boolean isLocal(EdgeRequest request) {
        String host = request.headers().get(HttpHeaderNames.HOST, "");
        return request.context().remote().getAddress().isLoopbackAddress()
                && LOOPBACK_HOST.matcher(host).matches();
    }
}
