package dev.culvert.launcher.demo;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/**
 * Checks with git itself, through the edge.
 *
 * @param folder the folder of the clones
 * @param bare the bare repository that the App-Proxy serves
 * @param url the URL of the repository at the edge
 * @param options git's options to reach the edge: the CA and the address of the host
 */
record GitChecks(Path folder, Path bare, String url, List<String> options) {

    List<DemoCheck> all() {
        return List.of(new DemoCheck("git clone", onElastic(this::cloneRepository)),
                new DemoCheck("git push", onElastic(this::push)));
    }

    private interface Proof {
        String run() throws IOException;
    }

    private static Mono<String> onElastic(Proof proof) {
        return Mono.fromCallable(proof::run).subscribeOn(Schedulers.boundedElastic());
    }

    private String cloneRepository() throws IOException {
        Path clone = cloneInto("clone");
        Git git = new Git(folder, options);
        String here = git.run(clone, "rev-parse", "HEAD");
        String there = git.run(bare, "rev-parse", "refs/heads/main");
        if (!here.equals(there)) {
            throw new DemoException("the clone has " + here + ", the repository " + there);
        }
        String commits = git.run(clone, "rev-list", "--count", "HEAD");
        git.run(clone, "fsck", "--strict");
        return commits + " commits, HEAD " + here.substring(0, 10) + " on both ends";
    }

    private String push() throws IOException {
        Path clone = cloneInto("push");
        var asUser = new ArrayList<>(options);
        // The key is not in the arguments: git requests it after a refusal, and a shell reads it from the
        // file.
        asUser.addAll(List.of("-c", "credential.helper=!f() { echo username=demo; echo \"password=$(cat '"
                + DemoPlatform.userKey(folder) + "')\"; }; f"));
        Git git = new Git(folder, asUser);
        Files.writeString(clone.resolve("pushed.txt"), "pushed through the tunnel\n".repeat(10_000));
        git.run(clone, "add", ".");
        git.run(clone, "commit", "--quiet", "-m", "Push through the tunnel");
        git.run(clone, "push", "--quiet", "origin", "HEAD:refs/heads/demo-check");
        String here = git.run(clone, "rev-parse", "HEAD");
        String there = git.run(bare, "rev-parse", "refs/heads/demo-check");
        if (!here.equals(there)) {
            throw new DemoException("pushed " + here + ", the repository has " + there);
        }
        return "demo-check is " + here.substring(0, 10) + " in the repository";
    }

    private Path cloneInto(String name) throws IOException {
        Path clones = Files.createDirectories(folder.resolve("clones"));
        Path clone = Files.createTempDirectory(clones, name);
        new Git(folder, options).run(folder, "clone", "--quiet", url, clone.toString());
        return clone;
    }
}
