package dev.culvert.launcher;

import java.util.List;
import java.util.stream.Stream;

/**
 * Runs the usual short commands in one process, which {@code culvert cache} starts: what it loads becomes the
 * AOT cache of all of them.
 */
public final class Rehearsal {
    private Rehearsal() {}

    /**
     * Runs all of them. Their failures end nothing.
     *
     * @param args the URL of an admin API that is a client's health listener, too; a file with a token
     */
    public static void main(String[] args) {
        Trainee.endWithParent();
        String url = args[0];
        String[] admin = {"--admin", url, "--admin-token-file", args[1]};
        List<List<String>> lines = List.of(List.of("--version"), List.of("--help"),
                List.of("runtime", "list"),
                List.of("runtime", "list", "--output", "json"), List.of("runtime", "show", "acme", "prod"),
                List.of("webhook", "list"), List.of("admin-token", "list"), List.of("audit"));
        for (List<String> line : lines) {
            boolean asks = !line.getFirst().startsWith("-");
            run(asks ? concat(line, List.of(admin)) : line);
        }
        run(List.of("client", "status", "--health", url));
        run(List.of("runtime", "list", "--admin", "http://127.0.0.1:1", "--admin-token-file", args[1]));
    }

    private static void run(List<String> line) {
        var _ = Main.execute(line.toArray(new String[0]));
    }

    private static List<String> concat(List<String> first, List<String> then) {
        return Stream.concat(first.stream(), then.stream()).toList();
    }
}
