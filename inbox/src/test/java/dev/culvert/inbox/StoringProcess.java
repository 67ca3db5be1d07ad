package dev.culvert.inbox;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/** A process of its own that stores webhooks, as fast as it can, until it is killed. */
final class StoringProcess {
    private static final int AT_ONCE = 16;

    private StoringProcess() {}

    /** Kills such a process, as kill -9 does, once it was told of {@code count}; returns the ids that it was told. */
    static List<String> killedAfter(Path folder, int count) throws IOException {
        Process process = new ProcessBuilder(
                Objects.requireNonNull(ProcessHandle.current().info().command().orElse(null)),
                "--enable-native-access=ALL-UNNAMED", "-XX:TieredStopAtLevel=1", "-cp",
                System.getProperty("java.class.path"), StoringProcess.class.getName(), folder.toString())
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        List<String> ids = new ArrayList<>();
        try (var lines = new BufferedReader(
                new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                if (line.startsWith("id ")) {
                    ids.add(line.substring(3));
                }
                if (ids.size() == count) {
                    process.toHandle().destroyForcibly(); // the stream stays open for what it said before
                }
            }
        }
        process.onExit().join();
        return ids;
    }

    /** The process. */
    public static void main(String[] args) {
        var fixture = new InboxFixture(Path.of(args[0]));
        fixture.cut();
        while (true) {
            List<Reply> replies = new ArrayList<>();
            for (int i = 0; i < AT_ONCE; i++) {
                replies.add(fixture.post("/webhooks/argo/push/", i == 0 ? "x".repeat(100_000) : "{}"));
            }
            replies.forEach(reply -> System.out.println("id " + reply.id()));
        }
    }
}
