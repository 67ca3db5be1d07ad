package dev.culvert.e2e;

import com.github.dockerjava.api.exception.DockerException;
import dev.culvert.edge.config.HostPort;
import java.nio.file.Files;
import java.nio.file.Path;
import org.testcontainers.DockerClientFactory;
import org.testcontainers.containers.wait.strategy.Wait;
import org.testcontainers.toxiproxy.ToxiproxyContainer;
import org.testcontainers.utility.DockerImageName;

/** Toxiproxy in a container on the host's network, if the engine has its image already: nothing is pulled. */
final class ToxicContainer implements FaultServer {
    static final String IMAGE = "ghcr.io/shopify/toxiproxy:2.12.0";
    private static final int CONTROL = 8474;

    private final ToxiproxyContainer container;

    private ToxicContainer(ToxiproxyContainer container) {
        this.container = container;
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

    static ToxicContainer run() {
        var container = new OnHost();
        container.start();
        return new ToxicContainer(container);
    }

    @Override
    public HostPort control() {
        return HostPort.parse("127.0.0.1:" + CONTROL);
    }

    @Override
    public void close() {
        container.stop();
    }

    /** On the host's network a port is what it is, and listens wherever the proxy's own is asked to. */
    private static final class OnHost extends ToxiproxyContainer {
        OnHost() {
            super(DockerImageName.parse(IMAGE));
            withNetworkMode("host");
            withImagePullPolicy(image -> false);
            waitingFor(Wait.forHttp("/version").forPort(CONTROL));
        }

        @Override
        public Integer getMappedPort(int originalPort) {
            return originalPort;
        }
    }
}
