package dev.culvert.launcher.demo;

import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http.DefaultHttpHeaders;
import io.netty.handler.codec.http.HttpMethod;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/**
 * Checks of the App-Proxy's functions for a user of the control plane, through the edge.
 *
 * @param host the host of the connected runtime
 * @param folder the demo's folder
 * @param bare the bare repository that receives commits
 */
record AppProxyChecks(DemoCaller caller, String host, Path folder, Path bare, DemoCluster cluster) {
    /** @param withGit whether the App-Proxy has repositories */
    List<DemoCheck> all(boolean withGit) {
        List<DemoCheck> others = List.of(new DemoCheck("terminate a workflow", terminate()),
                new DemoCheck("not permitted", refused()));
        return withGit
                ? Stream.concat(Stream.of(new DemoCheck("repositories", repositories()),
                        new DemoCheck("commit a file", commit())), others.stream()).toList()
                : others;
    }

    private Mono<String> repositories() {
        return ask(DemoDocuments.REPOSITORIES)
                .map(answer -> answer.expect(200).expect("\"fullName\":\"demo\""))
                .thenReturn("demo is listed");
    }

    private Mono<String> commit() {
        return ask(DemoDocuments.commit("check.txt", "Checked by the demo"))
                .map(answer -> answer.expect(200).expect("\"sha\":\""))
                .then(onElastic(() -> {
                    String log = new Git(folder, List.of()).run(bare, "log", "-1", "--format=%an <%ae>: %s",
                            "main");
                    if (!log.equals("Demo User <demo@example.com>: Checked by the demo")) {
                        throw new DemoException("git log says " + log);
                    }
                    return "git log: " + log;
                }));
    }

    private Mono<String> terminate() {
        return ask(DemoDocuments.terminate("check"))
                .map(answer -> answer.expect(200).expect("\"shutdown\":\"Terminate\""))
                .then(onElastic(() -> {
                    if (!cluster.shutdown("check").equals("Terminate")) {
                        throw new DemoException("the workflow goes on");
                    }
                    return "spec.shutdown is Terminate";
                }));
    }

    private Mono<String> refused() {
        return ask(DemoDocuments.stop("build")).map(answer -> answer.expect(403))
                .then(onElastic(() -> {
                    if (!cluster.shutdown("build").isEmpty()) {
                        throw new DemoException("the workflow was stopped all the same");
                    }
                    return "stopping it answered 403, and it goes on";
                }));
    }

    private Mono<DemoCaller.Answer> ask(String document) {
        return onElastic(() -> Files.readString(DemoPlatform.userKey(folder)).strip()).flatMap(key -> {
            byte[] body = DemoDocuments.body(document).getBytes(StandardCharsets.UTF_8);
            var headers = new DefaultHttpHeaders().add("Authorization", key)
                    .add("Content-Type", "application/json")
                    .add("Content-Length", body.length);
            return caller.send(HttpMethod.POST, host, DemoDocuments.PATH, headers,
                    Flux.defer(() -> Flux.just(Unpooled.wrappedBuffer(body))));
        });
    }

    private interface Proof<T> {
        T run() throws IOException;
    }

    private static <T> Mono<T> onElastic(Proof<T> proof) {
        return Mono.fromCallable(proof::run).subscribeOn(Schedulers.boundedElastic());
    }
}
