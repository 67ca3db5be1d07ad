package dev.culvert.appproxy;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** The real git client, untouched by the configuration of whoever runs the tests. */
public final class GitCommand {
    private GitCommand() {}

    /** Runs git and returns what it printed; it must succeed. */
    public static String git(Path folder, String... arguments) throws IOException, InterruptedException {
        Result result = run(folder, arguments);
        assertThat(result.exitCode).as(result.output).isZero();
        return result.output.strip();
    }

    public static Result run(Path folder, String... arguments) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of("git", "-c", "core.compression=0", "-c",
                "http.lowSpeedLimit=1", "-c", "http.lowSpeedTime=30"));
        command.addAll(List.of(arguments));
        ProcessBuilder builder = new ProcessBuilder(command).directory(folder.toFile())
                .redirectErrorStream(true)
                .redirectInput(new File("/dev/null"));
        Map<String, String> environment = builder.environment();
        environment.keySet()
                .removeIf(
                        name -> name.startsWith("GIT_") || name.toLowerCase(Locale.ROOT).endsWith("_proxy"));
        environment.putAll(Map.of("GIT_CONFIG_NOSYSTEM", "1", "GIT_CONFIG_GLOBAL", "/dev/null",
                "GIT_TERMINAL_PROMPT", "0", "LC_ALL", "C", "GIT_AUTHOR_NAME", "a", "GIT_AUTHOR_EMAIL",
                "a@example.com",
                "GIT_COMMITTER_NAME", "a", "GIT_COMMITTER_EMAIL", "a@example.com"));
        Process process = builder.start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        return new Result(process.waitFor(), output);
    }

    public record Result(int exitCode, String output) {}
}
