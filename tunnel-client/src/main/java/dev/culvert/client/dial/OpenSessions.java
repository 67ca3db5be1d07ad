package dev.culvert.client.dial;

import dev.culvert.config.HostPort;
import dev.culvert.protocol.netty.TunnelChannelHandler;
import io.netty.channel.Channel;
import java.net.InetSocketAddress;
import java.net.URI;
import java.time.Clock;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The WebSockets that a client has open, and why it last lost or did not get one: what its status shows. Bounded by the
 * client's connections. Thread-safe.
 */
public final class OpenSessions {
    private final Clock clock;
    private final Map<Channel, Opened> open = new ConcurrentHashMap<>();
    private volatile @Nullable Failure lastFailure;

    private record Opened(URI server, @Nullable OutboundProxy proxy, Instant since) {}

    /** Something that went wrong on the way to a server. */
    public record Failure(Instant at, String reason) {}

    /**
     * One of them.
     *
     * @param remote the address at the other end, a proxy's where one stands between
     * @param proxy null: none
     * @param rttSeconds of the last heartbeat; null: none was answered yet
     */
    public record View(URI server, String remote, @Nullable String proxy, Instant since,
            @Nullable Double rttSeconds,
            int streams) {}

    public OpenSessions(Clock clock) {
        this.clock = clock;
    }

    /** A WebSocket is open; it is shown until it closes. */
    void opened(URI server, @Nullable OutboundProxy proxy, Channel channel) {
        open.put(channel, new Opened(server, proxy, clock.instant()));
        channel.closeFuture().addListener(closed -> open.remove(channel));
    }

    /** Something went wrong; the last of these is shown. */
    public void failed(String reason) {
        lastFailure = new Failure(clock.instant(), reason);
    }

    public @Nullable Failure lastFailure() {
        return lastFailure;
    }

    /** Those with a session, the oldest first. */
    public List<View> views() {
        return open.entrySet()
                .stream()
                .filter(entry -> entry.getKey().pipeline().get(TunnelChannelHandler.class) != null)
                .map(entry -> view(entry.getKey(), entry.getValue()))
                .sorted(Comparator.comparing(View::since))
                .toList();
    }

    private static View view(Channel channel, Opened opened) {
        TunnelChannelHandler session = channel.pipeline().get(TunnelChannelHandler.class);
        long rtt = session == null ? -1 : session.rttNanos();
        String remote = channel.remoteAddress() instanceof InetSocketAddress address
                ? new HostPort(address.isUnresolved()
                        ? address.getHostString()
                        : address.getAddress().getHostAddress(), address.getPort()).toString()
                : "";
        OutboundProxy proxy = opened.proxy();
        return new View(opened.server(), remote, proxy == null ? null : proxy.url(), opened.since(),
                rtt < 0 ? null : rtt / 1e9, session == null ? 0 : session.streamCount());
    }
}
