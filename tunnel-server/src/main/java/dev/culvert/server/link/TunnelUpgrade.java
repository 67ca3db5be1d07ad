package dev.culvert.server.link;

import dev.culvert.http.fields.HostName;
import dev.culvert.http.net.HandlerNames;
import dev.culvert.relay.exchange.TunnelWay;
import dev.culvert.relay.listen.HandshakeFairness;
import dev.culvert.relay.listen.OpenConnections;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPipeline;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponseEncoder;
import io.netty.util.AsciiString;
import java.util.Queue;
import java.util.function.Predicate;

/**
 * Turns connections of a shared listener into tunnel connections. A request for {@code /tunnel/v1}, or a path
 * below it, on a tunnel host turns its connection for good.
 */
public final class TunnelUpgrade implements TunnelWay {
    private final Predicate<String> hosts;
    private final TunnelHandshake.Shared shared;
    private final OpenConnections tunnels;

    /**
     * Makes the upgrade of one listener.
     *
     * @param hosts accepts the tunnel's host names, in their compared form
     * @param tunnels receives the connections of tunnel clients
     */
    public TunnelUpgrade(Predicate<String> hosts, TunnelHandshake.Shared shared, OpenConnections tunnels) {
        this.hosts = hosts;
        this.shared = shared;
        this.tunnels = tunnels;
    }

    @Override
    public boolean isFor(HttpRequest request) {
        String target = request.uri();
        if (!target.startsWith(TunnelHandshake.PATH) || request.decoderResult().isFailure()) {
            return false;
        }
        int end = TunnelHandshake.PATH.length();
        boolean path = target.length() == end || target.charAt(end) == '/' || target.charAt(end) == '?';
        var named = request.headers().getAll("host");
        return path && named.size() == 1 && hosts.test(HostName.of(named.getFirst()));
    }

    @Override
    public boolean mayBeAt(CharSequence target) {
        return AsciiString.of(target).startsWith(TunnelHandshake.PATH);
    }

    @Override
    public void enter(ChannelHandlerContext edge, ChannelHandler encoder, HttpRequest request,
            Queue<Object> behind) {
        tunnels.add(edge.channel());
        TunnelListener.tune(edge.channel());
        HandshakeFairness.begin(edge.channel());
        ChannelPipeline pipeline = edge.pipeline();
        pipeline.replace(encoder, HandlerNames.HTTP1_ENCODER, new HttpResponseEncoder());
        TunnelHandshake.add(pipeline, shared, true);
        edge.channel().config().setAutoRead(true);
        edge.fireChannelRead(request);
        while (!behind.isEmpty()) {
            edge.fireChannelRead(behind.remove());
        }
        pipeline.remove(edge.handler());
    }
}
