package dev.culvert.launcher.demo;

import dev.culvert.standins.argo.ClusterStandIn;
import dev.culvert.standins.argo.Samples;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;
import reactor.netty.resources.LoopResources;

/** The demo's cluster: a stand-in of the Kubernetes API with workflows that run until a user ends them. */
final class DemoCluster {
    static final String NAMESPACE = "demo";

    /** The workflow for users to end, and the one for the check. */
    static final List<String> WORKFLOWS = List.of("build", "check");

    private static final String TOKEN = "demo-cluster";

    private final ClusterStandIn cluster;
    private final Path tokenFile;

    private DemoCluster(ClusterStandIn cluster, Path tokenFile) {
        this.cluster = cluster;
        this.tokenFile = tokenFile;
    }

    /** Starts the cluster with its objects. The caller stops it. */
    static Mono<DemoCluster> start(LoopResources loops, Path folder) {
        return ClusterStandIn.start(loops, TOKEN)
                .flatMap(cluster -> Mono.fromCallable(() -> filled(cluster, folder))
                        .subscribeOn(Schedulers.boundedElastic()));
    }

    URI url() {
        return cluster.uri();
    }

    Path tokenFile() {
        return tokenFile;
    }

    /** The value of {@code spec.shutdown} of a workflow; empty until a user has ended it. Blocks briefly. */
    String shutdown(String workflow) {
        return cluster.get("Workflow", NAMESPACE, workflow).path("spec").path("shutdown").asText("");
    }

    Mono<Void> stop() {
        return cluster.stop();
    }

    private static DemoCluster filled(ClusterStandIn cluster, Path folder) throws IOException {
        for (String workflow : WORKFLOWS) {
            cluster.put(Samples.workflow(NAMESPACE, workflow));
            cluster.put(Samples.pod(NAMESPACE, workflow, workflow + "-1"));
            cluster.log(NAMESPACE, workflow + "-1").write("sleeping for 600 s");
        }
        return new DemoCluster(cluster, Secrets.write(folder.resolve("cluster.token"), TOKEN));
    }
}
