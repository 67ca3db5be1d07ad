package dev.culvert.server.link;

import dev.culvert.certs.ClientCertificates;
import dev.culvert.certs.ClientCertificates.Verdict;
import dev.culvert.http.fields.HostName;
import dev.culvert.http.forwarding.ForwardingRules;
import dev.culvert.http.net.HandlerNames;
import dev.culvert.http.net.JudgedRequestDecoder;
import dev.culvert.http.observe.Telemetry;
import dev.culvert.http.path.TargetForm;
import dev.culvert.http.problem.EdgeException;
import dev.culvert.http.problem.Problem;
import dev.culvert.http.problem.Problem.Cause;
import dev.culvert.http.problem.Problem.Hop;
import dev.culvert.http.problem.ProblemDocument;
import dev.culvert.protocol.frame.Hello;
import dev.culvert.relay.listen.CallerAddress;
import dev.culvert.server.enrol.EnrolmentAnswer;
import dev.culvert.server.enrol.EnrolmentService;
import dev.culvert.server.enrol.RenewalService;
import dev.culvert.server.enrol.RenewalService.Proven;
import dev.culvert.server.runtime.RegisteredRuntime;
import dev.culvert.server.runtime.Revocations;
import dev.culvert.server.runtime.RuntimeStore;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.EventLoop;
import io.netty.handler.codec.DateFormatter;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.TooLongHttpContentException;
import io.netty.handler.codec.http.websocketx.WebSocketDecoderConfig;
import io.netty.handler.codec.http.websocketx.WebSocketFrameAggregator;
import io.netty.handler.codec.http.websocketx.WebSocketServerHandshaker13;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.ssl.SslHandler;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.concurrent.Future;
import java.net.InetSocketAddress;
import java.security.cert.X509Certificate;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Date;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * Handles a connection of the tunnel listener until it is a tunnel: enrolment, and the WebSocket handshake of
 * a client with a valid certificate. Every refusal is a problem document with the reason.
 */
public final class TunnelHandshake extends ChannelInboundHandlerAdapter {
    static final String PATH = "/tunnel/v1";
    static final String ENROL_PATH = PATH + "/enrol";
    static final String RENEW_PATH = PATH + "/renew";
    /** Sent by clients that can prove their certificate in the first frames (docs/protocol.md §4.1). */
    private static final String PROOF_FIELD = "culvert-proof";
    /** The client's number of the connection, as in its HELLO (docs/protocol.md §4). */
    private static final String CONNECTION_FIELD = "culvert-connection";
    /** RFC 6455 §4.1. */
    private static final String WEB_SOCKET_VERSION = "13";
    /** The maximum length of a batch (docs/protocol.md §1). */
    private static final int MAX_MESSAGE = 65_535;
    /**
     * The time from accept to a tunnel: TLS, and at most an enrolment of two requests, or the proof of a
     * certificate.
     */
    private static final Duration TIME = Duration.ofSeconds(5);
    private static final Duration RETRY = Duration.ofSeconds(1);

    private final Shared shared;
    private final boolean once;
    private long startedNanos;
    private @Nullable Future<?> timeout;
    /** Whether the connection becomes a tunnel. The client then waits for the response. */
    private boolean accepted;
    /** Whether a request was refused. The connection closes behind the response, and serves nothing more. */
    private boolean refused;

    /**
     * The dependencies that all connections share.
     *
     * @param authorities the accepted issuers of client certificates
     * @param requireMutualTls whether only certificates that TLS carried are accepted
     * @param provenTo accepts the server's names, in their compared form; a proof for another name is refused
     * @param admission bounds the sessions that are being opened
     * @param placement chooses the event loops of connections whose runtime is known
     */
    public record Shared(RuntimeStore store, EnrolmentService enrolment, RenewalService renewal,
            Supplier<List<X509Certificate>> authorities, boolean requireMutualTls,
            Predicate<String> provenTo, SessionAdmission admission, LoopPlacement placement,
            Tunnels tunnels,
            Telemetry telemetry, Clock clock) {}

    /** Puts a session's handler behind the WebSocket codec of a runtime's connection. */
    @FunctionalInterface
    public interface Tunnels {
        /**
         * Adds the handler. {@code proven} is null when the client has yet to prove its certificate to {@code
         * host}, within {@code left}.
         */
        void start(ChannelHandlerContext ctx, @Nullable Proven proven, String host, Duration left);
    }

    private TunnelHandshake(Shared shared, boolean once) {
        this.shared = shared;
        this.once = once;
    }

    /**
     * Adds the handlers of one connection behind an HTTP/1.1 codec.
     *
     * @param once whether it serves one request only, because the next one may be another client's: balancers
     *        reuse their connections
     */
    static void add(ChannelPipeline pipeline, Shared shared, boolean once) {
        pipeline.addLast(HandlerNames.ENROLMENT_BODY, new EnrolmentBodies());
        pipeline.addLast(HandlerNames.TUNNEL_HANDSHAKE, new TunnelHandshake(shared, once));
    }

    @Override
    public void handlerAdded(ChannelHandlerContext ctx) {
        startedNanos = System.nanoTime();
        timeout = ctx.executor().schedule(() -> ctx.close(), TIME.toMillis(), TimeUnit.MILLISECONDS);
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) {
        stopTimer();
        ctx.fireChannelInactive();
    }

    private Duration left() {
        Duration left = TIME.minusNanos(System.nanoTime() - startedNanos);
        return left.isPositive() ? left : Duration.ofNanos(1);
    }

    private void stopTimer() {
        if (timeout != null) {
            timeout.cancel(false);
        }
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) {
        if (refused || !(message instanceof FullHttpRequest request)) {
            ReferenceCountUtil.release(message);
            return;
        }
        if (accepted) {
            request.release();
            ctx.close();
            return;
        }
        try {
            String id = requestId(request);
            Problem problem = request.decoderResult().isFailure()
                    ? undecodable(request)
                    : route(ctx, request, id);
            if (problem != null) {
                refuse(ctx, problem, id);
            }
        } finally {
            request.release();
        }
    }

    private static Problem undecodable(FullHttpRequest request) {
        return request.decoderResult().cause() instanceof TooLongHttpContentException
                ? Problem.of(Cause.BODY_TOO_LARGE, Hop.TUNNEL,
                        "the body is larger than " + EnrolmentService.MAX_BODY_BYTES + " bytes")
                : JudgedRequestDecoder.problem(request.decoderResult().cause(), Hop.TUNNEL);
    }

    private static String requestId(FullHttpRequest request) {
        var fields = new DefaultHttp2Headers(false, 4);
        String offered = request.headers().get("x-request-id");
        if (offered != null) {
            fields.set("x-request-id", offered);
        }
        return ForwardingRules.requestId(fields).toString();
    }

    private @Nullable Problem route(ChannelHandlerContext ctx, FullHttpRequest request, String id) {
        String path;
        try {
            path = TargetForm.path(request.uri(), request.method(),
                    TargetForm.host(request.headers().getAll("host")));
        } catch (EdgeException e) {
            return Problem.of(e.problem().cause(), Hop.TUNNEL, e.problem().detail());
        }
        if (path.equals(ENROL_PATH)) {
            return issue(ctx, request, id, shared.enrolment()::enrol);
        }
        if (path.equals(RENEW_PATH)) {
            return issue(ctx, request, id, shared.renewal()::renew);
        }
        if (!path.equals(PATH)) {
            return Problem.of(Cause.NOT_FOUND, Hop.TUNNEL,
                    "this listener serves " + PATH + ", " + ENROL_PATH + " and " + RENEW_PATH);
        }
        boolean upgrade = request.method().equals(HttpMethod.GET)
                && request.headers().containsValue("connection", "upgrade", true)
                && request.headers().contains("upgrade", "websocket", true);
        if (!upgrade) {
            return Problem.of(Cause.UPGRADE_REQUIRED, Hop.TUNNEL,
                    "open a WebSocket with subprotocol " + Hello.SUBPROTOCOL);
        }
        if (!request.headers().containsValue("sec-websocket-protocol", Hello.SUBPROTOCOL, false)) {
            return Problem.of(Cause.BAD_REQUEST, Hop.TUNNEL, "the subprotocol must be " + Hello.SUBPROTOCOL);
        }
        if (!WEB_SOCKET_VERSION.equals(request.headers().get("sec-websocket-version"))) {
            return Problem.of(Cause.UPGRADE_REQUIRED, Hop.TUNNEL,
                    "the WebSocket version must be " + WEB_SOCKET_VERSION);
        }
        if (!request.headers().contains("sec-websocket-key")) {
            return Problem.of(Cause.BAD_REQUEST, Hop.TUNNEL, "the handshake has no Sec-WebSocket-Key");
        }
        return upgrade(ctx, request);
    }

    /** Answers requests for certificates: enrolment or renewal. */
    @FunctionalInterface
    private interface Desk {
        Mono<EnrolmentAnswer> answer(byte[] body, String requestId, InetSocketAddress remote);
    }

    private @Nullable Problem issue(ChannelHandlerContext ctx, FullHttpRequest request, String id,
            Desk desk) {
        if (!request.method().equals(HttpMethod.POST)) {
            return Problem.of(Cause.METHOD_NOT_ALLOWED, Hop.TUNNEL, "certificates are asked for by POST");
        }
        InetSocketAddress remote = CallerAddress.of(ctx.channel());
        desk.answer(ByteBufUtil.getBytes(request.content()), id, remote)
                .subscribe(
                        answer -> ctx.executor().execute(() -> write(ctx, answer)),
                        failure -> ctx.executor()
                                .execute(() -> refuse(ctx,
                                        Problem.of(Cause.INTERNAL, Hop.TUNNEL,
                                                "no certificate could be issued; try again"),
                                        id)));
        return null;
    }

    private void write(ChannelHandlerContext ctx, EnrolmentAnswer answer) {
        var response = new DefaultFullHttpResponse(HttpVersion.HTTP_1_1,
                HttpResponseStatus.valueOf(answer.status()),
                Unpooled.wrappedBuffer(answer.body()));
        answer.fields().forEach(field -> response.headers().set(field.name(), field.value()));
        response.headers().set("content-length", answer.body().length).set("date", date());
        if (once) {
            response.headers().set("connection", "close");
        }
        var written = ctx.writeAndFlush(response);
        if (once) {
            written.addListener(ChannelFutureListener.CLOSE);
        }
    }

    /**
     * Judges the client's certificate, since the TLS handshake accepts any, and upgrades the connection.
     * Returns the problem of a refusal, or null.
     */
    private @Nullable Problem upgrade(ChannelHandlerContext ctx, FullHttpRequest request) {
        SslHandler tls = ctx.pipeline().get(SslHandler.class);
        List<X509Certificate> shown = tls == null
                ? List.of()
                : ClientCertificates.shown(tls.engine().getSession());
        Verdict verdict = ClientCertificates.verify(shown, shared.authorities().get(),
                shared.clock().instant());
        return switch (verdict) {
            case Verdict.Missing missing -> {
                if (shared.requireMutualTls()
                        || !request.headers().contains(PROOF_FIELD, "opening", false)) {
                    yield unauthorized(shared.requireMutualTls()
                            ? "no client certificate was shown, and this server requires mutual TLS; does a proxy on"
                                    + " the way end TLS?"
                            : "no client certificate was shown; enrol first");
                }
                String host = host(request);
                if (!shared.provenTo().test(host)) {
                    // A proof for another server's name may have been made for that server, and relayed.
                    yield unauthorized(
                            "no client certificate was shown, and none can be proven to the name that was"
                                    + " dialled: it is neither in the server's certificate nor in its tunnel.hosts");
                }
                yield accept(ctx, request, null);
            }
            case Verdict.Expired expired ->
                unauthorized(
                        "the client certificate ended at " + expired.since() + "; renew it, or enrol again");
            case Verdict.Untrusted untrusted -> unauthorized(untrusted.reason());
            case Verdict.Valid valid -> {
                RegisteredRuntime runtime = shared.store().byIdentity(valid.identity().runtimeId());
                if (runtime == null) {
                    if (shared.store().isReleased()) {
                        yield Problem.of(Cause.DRAINING, Hop.TUNNEL, "this server is stopping; try again")
                                .retryAfter(RETRY);
                    }
                    yield unauthorized(Revocations.reason(shared.store(), valid.identity())
                            + "; enrol with a new token");
                }
                yield accept(ctx, request,
                        new Proven(runtime, shown.getFirst().getNotAfter().toInstant()));
            }
        };
    }

    private static Problem unauthorized(String detail) {
        return Problem.of(Cause.UNAUTHORIZED, Hop.TUNNEL, detail);
    }

    private static String host(FullHttpRequest request) {
        return HostName.of(String.valueOf(request.headers().get("host")));
    }

    private @Nullable Problem accept(ChannelHandlerContext ctx, FullHttpRequest request,
            @Nullable Proven proven) {
        if (!shared.admission().begin(ctx.channel(), proven == null ? null : proven.runtime().id())) {
            return Problem.of(Cause.OVERLOADED, Hop.TUNNEL, "too many sessions are being opened at once")
                    .retryAfter(shared.admission().retryAfter());
        }
        accepted = true;
        EventLoop present = ctx.channel().eventLoop();
        EventLoop chosen = proven == null
                ? present
                : shared.placement().place(proven.runtime().id(), number(request), ctx.channel());
        if (chosen.equals(present)) {
            switchProtocols(ctx, request, proven);
        } else {
            FullHttpRequest head = request.replace(Unpooled.EMPTY_BUFFER);
            LoopPlacement.move(ctx.channel(), chosen, () -> switchProtocols(ctx, head, proven));
        }
        return null;
    }

    /** The client's number of the connection; -1 if it gives none. */
    private static int number(FullHttpRequest request) {
        String number = request.headers().get(CONNECTION_FIELD, "");
        return number.matches("[0-9]{1,3}") ? Integer.parseInt(number) : -1;
    }

    private void switchProtocols(ChannelHandlerContext ctx, FullHttpRequest request,
            @Nullable Proven proven) {
        String host = host(request);
        var config = WebSocketDecoderConfig.newBuilder()
                .maxFramePayloadLength(MAX_MESSAGE)
                .allowExtensions(false)
                .expectMaskedFrames(true)
                .build();
        var handshaker = new WebSocketServerHandshaker13("wss://" + request.headers().get("host") + PATH,
                Hello.SUBPROTOCOL, config);
        // The WebSocket codec replaces the HTTP codec only after the 101 is written.
        handshaker.handshake(ctx.channel(), request).addListener(done -> {
            stopTimer();
            if (done.isSuccess()) {
                begin(ctx, proven, host);
            } else {
                ctx.close();
            }
        });
    }

    /** Replaces this handler by a session. Closes the connection if that fails: no timer ends it any more. */
    private void begin(ChannelHandlerContext ctx, @Nullable Proven proven, String host) {
        try {
            ctx.pipeline()
                    .addLast(HandlerNames.WEB_SOCKET_MESSAGE, new WebSocketFrameAggregator(MAX_MESSAGE));
            shared.tunnels().start(ctx, proven, host, left());
            ctx.pipeline().remove(this);
        } catch (RuntimeException e) {
            ctx.close();
            throw e;
        }
    }

    private void refuse(ChannelHandlerContext ctx, Problem problem, String id) {
        refused = true;
        shared.telemetry().problem(problem);
        ProblemDocument document = ProblemDocument.of(problem, id);
        var response = new DefaultFullHttpResponse(HttpVersion.HTTP_1_1,
                HttpResponseStatus.valueOf(document.status()),
                Unpooled.wrappedBuffer(document.body()));
        document.fields().forEach(field -> response.headers().set(field.name(), field.value()));
        response.headers().set("date", date());
        if (problem.cause() == Cause.UPGRADE_REQUIRED) {
            response.headers().set("upgrade", "websocket");
            response.headers().set("sec-websocket-version", WEB_SOCKET_VERSION);
        } else if (problem.cause() == Cause.METHOD_NOT_ALLOWED) {
            response.headers().set("allow", "POST");
        }
        response.headers()
                .set("connection", problem.cause() == Cause.UPGRADE_REQUIRED ? "close, upgrade" : "close");
        ctx.writeAndFlush(response).addListener(ChannelFutureListener.CLOSE);
    }

    /** The Date field. {@code culvert doctor} compares clocks by it. */
    private String date() {
        return DateFormatter.format(Date.from(shared.clock().instant()));
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        ctx.close(); // a failed TLS handshake or socket; no response is owed yet
    }
}
