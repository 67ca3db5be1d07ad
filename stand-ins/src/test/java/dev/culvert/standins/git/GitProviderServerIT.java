package dev.culvert.standins.git;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A plain Git client at a stand-in. */
class GitProviderServerIT {
    @TempDir
    Path temp;

    private @Nullable GitProviderServer server;

    @BeforeEach
    void start() throws IOException {
        GitHost host = new GitHost(temp.resolve("host"))
                .user(new HostedUser("alice", "t-alice", List.of("repo"), true))
                .user(new HostedUser("bob", "t-bob", List.of(), false));
        host.repository("acme/shop");
        server = GitProviderServer.start(new GithubApi(), host, null);
    }

    @AfterEach
    void stop() {
        Objects.requireNonNull(server).close();
    }

    @Test
    void plainGitClonesAndPushesWithATokenThatMayWrite() throws Exception {
        assertThat(git(temp, "clone", "--quiet", url("alice", "t-alice"), "a").code).isZero();
        Path clone = temp.resolve("a");
        Files.writeString(clone.resolve("f"), "x");
        git(clone, "checkout", "-q", "-b", "main");
        git(clone, "add", "f");
        git(clone, "commit", "-q", "-m", "first");

        assertThat(git(clone, "push", "--quiet", "origin", "main")).extracting(Result::code).isEqualTo(0);
        assertThat(git(temp, "clone", "--quiet", url("bob", "t-bob"), "b").code).isZero();
        assertThat(temp.resolve("b/f")).hasContent("x");
        assertThat(git(clone, "push", "--quiet", url("bob", "t-bob"), "main:other").output).contains("403");
        assertThat(git(temp, "clone", "--quiet", url("eve", "wrong"), "c").code).isNotZero();
    }

    private String url(String user, String token) {
        return Objects.requireNonNull(server)
                .cloneUrl("acme/shop")
                .toString()
                .replace("://", "://" + user + ":" + token + "@");
    }

    private static Result git(Path folder, String... arguments) throws IOException, InterruptedException {
        var command = new ArrayList<>(List.of("git"));
        command.addAll(List.of(arguments));
        ProcessBuilder builder = new ProcessBuilder(command).directory(folder.toFile())
                .redirectErrorStream(true)
                .redirectInput(new File("/dev/null"));
        builder.environment()
                .putAll(Map.of("GIT_CONFIG_NOSYSTEM", "1", "GIT_CONFIG_GLOBAL", "/dev/null",
                        "GIT_TERMINAL_PROMPT", "0", "LC_ALL", "C", "GIT_AUTHOR_NAME", "a", "GIT_AUTHOR_EMAIL",
                        "a@example.com",
                        "GIT_COMMITTER_NAME", "a", "GIT_COMMITTER_EMAIL", "a@example.com"));
        Process process = builder.start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        return new Result(process.waitFor(), output);
    }

    private record Result(int code, String output) {}
}
