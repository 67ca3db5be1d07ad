package dev.culvert.e2e;

import static org.awaitility.Awaitility.await;

import com.github.dockerjava.api.exception.DockerException;
import dev.culvert.config.HostPort;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.testcontainers.DockerClientFactory;
import org.testcontainers.Testcontainers;
import org.testcontainers.containers.wait.strategy.AbstractWaitStrategy;
import org.testcontainers.toxiproxy.ToxiproxyContainer;
import org.testcontainers.utility.DockerImageName;

/**
 * Toxiproxy in a container, if the engine has its image already: nothing is pulled for it. Its ports are mapped; where the
 * engine has no bridge to map them from, it is on this machine's own network, with a control port of its own.
 */
final class ToxicContainer implements FaultServer {
    static final String IMAGE = "ghcr.io/shopify/toxiproxy:2.12.0";
    private static final int CONTROL = 8474;
    /** The first of the ports that {@link ToxiproxyContainer} exposes for proxies; each container has one proxy. */
    private static final int PROXY = 8666;
    /** Under which a container reaches this machine's ports that were exposed to it. */
    private static final String HERE = "host.testcontainers.internal";
    /** A port that was free may be taken by the time that the container wants it. */
    private static final int ATTEMPTS = 3;

    private final ToxiproxyContainer container;
    private final boolean mapped;
    private final int control;

    private ToxicContainer(ToxiproxyContainer container, boolean mapped, int control) {
        this.container = container;
        this.mapped = mapped;
        this.control = control;
    }

    /** Whether a Docker engine answers and has the image. */
    static boolean isUsable() {
        if (System.getenv("DOCKER_HOST") == null && !Files.exists(Path.of("/var/run/docker.sock"))) {
            return false;
        }
        if (!DockerClientFactory.instance().isDockerAvailable()) {
            return false;
        }
        try {
            DockerClientFactory.lazyClient().inspectImageCmd(IMAGE).exec();
            return true;
        } catch (DockerException absent) {
            return false;
        }
    }

    /** Whether the engine has a bridge, from which ports are mapped to this machine's. */
    static boolean hasBridge() {
        return DockerClientFactory.lazyClient()
                .listNetworksCmd()
                .exec()
                .stream()
                .anyMatch(network -> "bridge".equals(network.getDriver()));
    }

    static ToxicContainer run() {
        if (hasBridge() && !"host".equals(System.getenv("CULVERT_FAULT_NETWORK"))) {
            var container = new ToxiproxyContainer(DockerImageName.parse(IMAGE));
            container.withImagePullPolicy(image -> false).withAccessToHost(true);
            container.start();
            return new ToxicContainer(container, true, container.getMappedPort(CONTROL));
        }
        for (int attempt = 1;; attempt++) {
            var container = new OnHost(freePort());
            try {
                container.start();
                return new ToxicContainer(container, false, container.port);
            } catch (RuntimeException e) {
                container.stop();
                if (attempt == ATTEMPTS) {
                    throw e;
                }
            }
        }
    }

    private static int freePort() {
        try (var socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public HostPort control() {
        return new HostPort(mapped ? container.getHost() : "127.0.0.1", control);
    }

    @Override
    public HostPort listen() {
        return mapped ? new HostPort("0.0.0.0", PROXY) : FaultServer.super.listen();
    }

    @Override
    public HostPort reached(HostPort listening) {
        return mapped ? new HostPort(container.getHost(), container.getMappedPort(PROXY)) : listening;
    }

    @Override
    public HostPort reaches(HostPort here) {
        if (mapped) {
            Testcontainers.exposeHostPorts(here.port());
            return new HostPort(HERE, here.port());
        }
        return here;
    }

    @Override
    public void close() {
        container.stop();
    }

    /** On this machine's network a port is what it is, and nothing is mapped or exposed. */
    private static final class OnHost extends ToxiproxyContainer {
        final int port;

        OnHost(int port) {
            super(DockerImageName.parse(IMAGE));
            this.port = port;
            setExposedPorts(List.of());
            withNetworkMode("host");
            withImagePullPolicy(image -> false);
            withCommand("-host=127.0.0.1", "-port=" + port);
            waitingFor(new Answers(port));
        }

        @Override
        public Integer getMappedPort(int originalPort) {
            return originalPort;
        }
    }

    /** Waits until {@code GET /version} is answered; Testcontainers' own waits want a port that is exposed. */
    private static final class Answers extends AbstractWaitStrategy {
        private final HttpRequest version;

        Answers(int port) {
            version = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/version")).build();
        }

        @Override
        protected void waitUntilReady() {
            try (HttpClient client = HttpClient.newHttpClient()) {
                await().atMost(startupTimeout)
                        .pollInterval(Duration.ofMillis(50))
                        .ignoreExceptions()
                        .until(() -> client.send(version, BodyHandlers.discarding()).statusCode() == 200);
            }
        }
    }
}
