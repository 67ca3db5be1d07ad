package dev.culvert.client.dial;

import dev.culvert.config.HostPort;
import dev.culvert.config.IpText;
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
 * The open WebSockets of a client and its last failure, for its status. The number of connections bounds the
 * size. Thread-safe.
 */
public final class OpenSessions {
    private final Clock clock;
    private final Map<Channel, Opened> open = new ConcurrentHashMap<>();
    private volatile @Nullable Failure lastFailure;

    private record Opened(URI server, @Nullable OutboundProxy proxy, Instant since) {}

    /** A failure on the way to a server. */
    public record Failure(Instant at, String reason) {}

    /**
     * An open WebSocket.
     *
     * @param remote the address of the peer, which is the proxy's if there is one
     * @param proxy the proxy, or null
     * @param rttSeconds the round trip of the last heartbeat in seconds; null before the first answer
     */
    public record View(URI server, String remote, @Nullable String proxy, Instant since,
            @Nullable Double rttSeconds,
            int streams) {}

    public OpenSessions(Clock clock) {
        this.clock = clock;
    }

    /** Records an open WebSocket until it closes. */
    void opened(URI server, @Nullable OutboundProxy proxy, Channel channel) {
        open.put(channel, new Opened(server, proxy, clock.instant()));
        channel.closeFuture().addListener(closed -> open.remove(channel));
    }

    /** Records a failure. Only the last one is kept. */
    public void failed(String reason) {
        lastFailure = new Failure(clock.instant(), reason);
    }

    public @Nullable Failure lastFailure() {
        return lastFailure;
    }

    /** The WebSockets with a session, the oldest first. */
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
                        : IpText.of(address.getAddress()), address.getPort()).toString()
                : "";
        OutboundProxy proxy = opened.proxy();
        return new View(opened.server(), remote, proxy == null ? null : proxy.url(), opened.since(),
                rtt < 0 ? null : rtt / 1e9, session == null ? 0 : session.streamCount());
    }
}
