package dev.culvert.e2e;

import dev.culvert.config.HostPort;
import dev.culvert.server.ServerConfig;
import dev.culvert.server.access.AccessDefault;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/** Other listeners than the usual ones, for {@link Platform#start(Path, java.util.function.UnaryOperator)}. */
final class Listeners {
    /** Of clients on plain listeners, so that a test sees them renew. */
    static final Duration CLIENT_LIFE = Duration.ofSeconds(10);

    private Listeners() {}

    /** With certificates for custom hosts. */
    static ServerConfig withCertificates(ServerConfig usual, ServerConfig.Tls... more) {
        ServerConfig.Edge edge = usual.edge();
        return with(usual,
                new ServerConfig.Edge(edge.listen(), edge.domain(), edge.tls(), List.of(more), false,
                        edge.limits(), List.of(), false, false, false),
                usual.tunnel());
    }

    /** Runtimes without access rules are closed. */
    static ServerConfig closed(ServerConfig usual) {
        ServerConfig.Edge edge = usual.edge();
        return with(usual,
                new ServerConfig.Edge(edge.listen(), edge.domain(), edge.tls(), List.of(), false,
                        edge.limits(), List.of(), false, false, false,
                        new ServerConfig.Access(AccessDefault.DENY, null)),
                usual.tunnel());
    }

    /** Edge and tunnel on one port, by TLS; clients must show their certificate. */
    static ServerConfig onOnePort(ServerConfig usual) {
        HostPort port = freePort();
        ServerConfig.Edge edge = usual.edge();
        ServerConfig.Tunnel tunnel = usual.tunnel();
        return with(usual,
                new ServerConfig.Edge(port, edge.domain(), edge.tls(), List.of(), false, edge.limits(),
                        List.of(),
                        false, false, false),
                new ServerConfig.Tunnel(port, tunnel.tls(), false, false, List.of(), false, tunnel.ca(),
                        true));
    }

    /** The edge without TLS, for this peer only. */
    static ServerConfig plainEdge(ServerConfig usual, String peer) {
        ServerConfig.Edge edge = usual.edge();
        return with(usual, new ServerConfig.Edge(edge.listen(), edge.domain(), null, List.of(), true,
                edge.limits(), List.of(peer), false, false, false), usual.tunnel());
    }

    /** Both without TLS, for this peer only. */
    static ServerConfig plain(ServerConfig usual, String peer) {
        return plain(usual, usual.edge().listen(), usual.edge().domain(), peer);
    }

    /** Both without TLS on one port, for this peer only, with the domain localhost. */
    static ServerConfig plainOnOnePort(ServerConfig usual, String peer) {
        return plain(usual, freePort(), "localhost", peer);
    }

    private static ServerConfig plain(ServerConfig usual, HostPort listen, String domain, String peer) {
        ServerConfig.Ca ca = usual.tunnel().ca();
        return with(usual,
                new ServerConfig.Edge(listen, domain, null, List.of(), true, usual.edge().limits(),
                        List.of(peer),
                        false, false, false),
                new ServerConfig.Tunnel(listen, null, false, true, List.of(peer), false,
                        new ServerConfig.Ca(ca.certificate(), ca.key(), CLIENT_LIFE), false,
                        List.of("localhost")));
    }

    static ServerConfig with(ServerConfig usual, ServerConfig.Edge edge, ServerConfig.Tunnel tunnel) {
        return new ServerConfig(edge, tunnel, usual.admin(), usual.dataDir(), usual.store());
    }

    /** Port 0 on both would be two ports. */
    private static HostPort freePort() {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return HostPort.parse("127.0.0.1:" + socket.getLocalPort());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
