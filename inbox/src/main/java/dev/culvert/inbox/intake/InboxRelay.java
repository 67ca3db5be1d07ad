package dev.culvert.inbox.intake;

import dev.culvert.http.problem.Problem;
import dev.culvert.http.problem.Problem.Cause;
import dev.culvert.http.problem.Problem.Hop;
import dev.culvert.http.quota.SourceAddress;
import dev.culvert.inbox.dispatch.Attempt;
import dev.culvert.inbox.model.Delivery;
import dev.culvert.inbox.model.WebhookSecrets;
import dev.culvert.relay.Relay;
import dev.culvert.relay.RelayRequest;
import dev.culvert.relay.RequestSink;
import dev.culvert.relay.ResponseSink;
import dev.culvert.relay.route.DurableMatch;
import dev.culvert.relay.route.DurableRoutes;
import dev.culvert.relay.route.RouteQuery;
import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.Http2Headers;
import java.net.InetAddress;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * A relay before a runtime's relay. It stores requests of durable routes in the inbox, refuses requests that
 * the cluster would refuse, and passes all others on. One for each caller's connection or request; cheap to
 * create.
 */
public final class InboxRelay implements Relay {
    private static final Duration FULL = Duration.ofMinutes(1);
    private static final Duration OVERLOADED = Duration.ofSeconds(1);

    private final WebhookIntake inbox;
    private final Target target;
    private final @Nullable InetAddress caller;
    private final boolean trustedPeer;
    private final Relay direct;

    /**
     * The runtime whose requests pass here.
     *
     * @param runtimeId the runtime's id, as {@link Delivery} expects it
     * @param routes decides which requests are durable
     * @param secrets the secrets that verify their signatures
     * @param hop this part's hop in its problems
     */
    public record Target(String runtimeId, DurableRoutes routes, WebhookSecrets secrets, Hop hop) {}

    /**
     * @param caller the caller's address, in front of all trusted proxies; null: unknown
     * @param trustedPeer whether the peer has an inbox of its own, so that webhooks that it stored are not
     *     stored again
     * @param direct the runtime's relay
     */
    public InboxRelay(WebhookIntake inbox, Target target, @Nullable InetAddress caller, boolean trustedPeer,
            Relay direct) {
        this.inbox = inbox;
        this.target = target;
        this.caller = caller;
        this.trustedPeer = trustedPeer;
        this.direct = direct;
    }

    @Override
    public RequestSink open(RelayRequest request, ResponseSink response) {
        Http2Headers fields = request.fields();
        if (trustedPeer && fields.contains(Attempt.ID)) {
            return direct.open(request, response);
        }
        fields.remove(Attempt.ID);
        fields.remove(Attempt.NUMBER);
        DurableMatch match = request.kind() == RelayRequest.Kind.HTTP
                ? target.routes.match(RouteQuery.of(fields, caller))
                : null;
        return switch (match) {
            case null -> direct.open(request, response);
            case DurableMatch.Refused refused -> refuse(response, refused.problem());
            case DurableMatch.DurableRoute route -> take(request, response, route);
        };
    }

    private RequestSink take(RelayRequest request, ResponseSink response, DurableMatch.DurableRoute route) {
        long wait = caller == null ? 0 : inbox.rates.take(caller, System.nanoTime());
        if (wait > 0) {
            inbox.meters.refused("rate");
            return refuse(response, problem(Cause.RATE_LIMITED, "this address sends too many webhooks")
                    .retryAfter(Duration.ofNanos(wait)));
        }
        long length = request.ended() ? 0 : length(request.fields());
        long most = Upload.most(inbox, route);
        if (length > most) {
            inbox.meters.refused("size");
            return refuse(response, tooLarge(target.hop, most));
        }
        if (!inbox.room.isThere()) {
            inbox.meters.refused("disk");
            return refuse(response, full(target.hop, inbox.room.reason()));
        }
        // RFC 9110 §10.1.1: the expectation addresses this hop, and the event source never waits.
        boolean asked = request.fields().remove("expect");
        Upload upload = Upload.open(inbox, target, route, request, response, SourceAddress.of(caller),
                length);
        if (upload == null) {
            inbox.meters.refused("memory");
            return refuse(response, busy(target.hop));
        }
        if (asked && !request.ended()) {
            response.informational(new DefaultHttp2Headers(false).status("100"));
        }
        if (request.ended()) {
            upload.end(null);
        }
        return upload;
    }

    private Problem problem(Cause cause, String detail) {
        return Problem.of(cause, target.hop, detail);
    }

    static Problem busy(Hop hop) {
        return Problem.of(Cause.OVERLOADED, hop, "too many webhooks are being received")
                .retryAfter(OVERLOADED);
    }

    static Problem tooLarge(Hop hop, long most) {
        return Problem.of(Cause.BODY_TOO_LARGE, hop, "the webhook is larger than " + most + " bytes");
    }

    static Problem full(Hop hop, String detail) {
        return Problem.of(Cause.OVERLOADED, hop, detail).retryAfter(FULL);
    }

    private static long length(Http2Headers fields) {
        CharSequence length = fields.get("content-length");
        try {
            return length == null ? -1 : Long.parseLong(length.toString());
        } catch (NumberFormatException unknown) {
            return -1;
        }
    }

    private static RequestSink refuse(ResponseSink response, Problem problem) {
        response.fail(problem);
        return new Swallowed(response);
    }

    /** Releases the bytes that arrive after the refusal, and reports them as consumed. */
    private record Swallowed(ResponseSink response) implements RequestSink {
        @Override
        public void data(ByteBuf body) {
            int bytes = body.readableBytes();
            body.release();
            response.consumed(bytes);
        }

        @Override
        public void end(@Nullable Http2Headers trailers) {}

        @Override
        public void cancel(Problem reason) {}

        @Override
        public void consumed(int bytes) {}
    }
}
