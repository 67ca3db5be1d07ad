package dev.culvert.benchmarks.target;

import dev.culvert.benchmarks.process.Program;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * {@code culvert-ingress}: the request router alone, as behind an ingress controller, with TLS at its own
 * listener. It is one hop, to be compared with {@code nginx1}. Webhooks are stored by its inbox.
 */
final class IngressTarget implements TargetKind {
    private static final String NAME = "culvert-ingress";

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public String version() {
        return CulvertPrograms.version();
    }

    @Override
    public Target start(Testbed bed, Upstream upstream) throws IOException {
        return target(router(bed, upstream, Launch.OWN));
    }

    /** Starts the router. Returns at once. */
    static Program router(Testbed bed, Upstream upstream, Launch launch) throws IOException {
        Path folder = bed.folder(NAME);
        Path config = Files.writeString(folder.resolve("router.yaml"), """
                listen: "127.0.0.1:0"
                tls: { certificate: %1$s, key: %2$s }
                accessLog: false
                inbox: { perAddress: 1000000 }
                dataDir: data
                routes:
                  - { path: "/webhooks/{namespace}/{eventSource}/", to: "%3$s" }
                  - { path: /, to: "%3$s" }
                policy: { webhooks: { allow: ["argo/*"] } }
                """.formatted(bed.certificates().edgeCertificate(), bed.certificates().edgeKey(),
                upstream.address()));
        return bed.start(folder.resolve("router.log"),
                launch.command(CulvertPrograms.PART, "router", "--config", config.toString()));
    }

    /** The target that a router is, when it listens. */
    static Target target(Program router) {
        String ready = router.await(CulvertPrograms.READY);
        return new Target(NAME, URI.create("https://" + CulvertPrograms.field(ready, "listen")),
                CulvertPrograms.HOST, List.of(router.pid()));
    }
}
