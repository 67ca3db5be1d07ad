package dev.culvert.launcher;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code culvert trigger}, asking a control plane in a process of its own. */
class TriggerCommandIT {
    private static final String PUSH = """
            {"ref": "refs/heads/%s", "after": "8ab686eafeb1f44702738c8b0f24f2567c36da6d",
             "repository": {"full_name": "acme/web"}, "head_commit": {"message": "%s"}}""";

    @TempDir
    Path folder;

    private String url = "";

    private Captured trigger(String... arguments) {
        var all = new ArrayList<>(List.of("trigger"));
        all.addAll(List.of(arguments));
        all.addAll(List.of("--control-plane", url));
        if (!arguments[0].equals("run")) {
            all.addAll(List.of("--api-key-file", folder.resolve("data/admin.key").toString()));
        }
        return Captured.run(all.toArray(String[]::new));
    }

    private String done(String... arguments) {
        Captured captured = trigger(arguments);
        assertThat(captured.exitCode()).as(captured.err()).isZero();
        return captured.out();
    }

    private String file(String name, String content) throws IOException {
        return Files.writeString(folder.resolve(name), content).toString();
    }

    @Test
    void aTriggerIsMadeExplainedRunAndDeleted() throws Exception {
        String config = file("control-plane.yaml",
                "listen: 127.0.0.1:0\ndataDir: " + folder.resolve("data") + "\n");
        try (Launched plane = Launched.start(folder, "control-plane", "--config", config)) {
            url = "http://" + plane.event("listening").path("listen").asText();
            String secret = file("hook.secret", "a secret of the webhook\n");

            String made = done("create", "shop/build", "--type", "git", "--kind", "github", "--value",
                    "owner=acme", "--value", "repo=web", "--secret-file", secret, "--filter",
                    "branch=^main$");
            assertThat(made).contains("created and linked: git:github:acme:web:",
                    "secret: a secret of the webhook", "/api/hermes/git/github?account=");
            String event = made.lines().findFirst().orElse("").replace("created and linked: ", "");
            assertThat(done("list")).contains(event, "shop/build", "branch=^main$");

            assertThat(done("explain", event, "--name", "push", "--file",
                    file("other.json", PUSH.formatted("other", "x"))))
                    .contains("false", "filter branch: \"other\" does not match ^main$");
            assertThat(done("explain", event, "--name", "push", "--file",
                    file("skip.json", PUSH.formatted("main", "[skip ci]"))))
                    .contains("the commit message says [skip ci]");
            assertThat(done("explain", event, "--field", "branch=main")).contains("shop/build", "true");
            Captured wrong = trigger("explain", event, "--name", "push", "--file", file("no.json", "{}"));
            assertThat(wrong.exitCode()).isNotZero();
            assertThat(wrong.err()).contains("repository.full_name: missing (expected: owner/name)");

            assertThat(done("run", event, "--secret-file", secret, "--variable", "branch=main"))
                    .startsWith("run ")
                    .contains(" of shop/build");
            assertThat(done("run", event, "--secret-file", secret, "--variable", "branch=x"))
                    .contains("culvert trigger refusals");
            assertThat(trigger("run", event, "--secret-file", config).err())
                    .contains("the secret is wrong, or there is no such event");
            assertThat(done("runs", "--pipeline", "shop/build")).contains("recorded", event);
            assertThat(done("refusals")).contains("\"x\" does not match ^main$");
            assertThat(done("delete", "shop/build", "--event", event, "--with-event")).contains("deleted");
            assertThat(done("list")).doesNotContain("shop/build");
        }
    }
}
