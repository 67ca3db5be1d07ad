package dev.culvert.launcher.platform;

import com.fasterxml.jackson.databind.JsonNode;
import dev.culvert.launcher.admin.AdminClient;
import dev.culvert.launcher.admin.AdminOptions;
import dev.culvert.launcher.output.Output;
import dev.culvert.launcher.output.OutputOption;
import dev.culvert.launcher.run.Task;
import picocli.CommandLine.Mixin;

/** A command that asks a control plane and prints the response on standard output. */
abstract class PlatformCommand implements Task.Brief {
    @Mixin
    private PlatformOptions options = new PlatformOptions();

    @Mixin
    private OutputOption output = new OutputOption();

    /** Sends the request. {@code Failures} reports errors. */
    abstract AdminClient.Answer ask(PlatformClient client);

    /** Formats the response for people. */
    abstract String table(JsonNode answer);

    /** Whether the call needs no API key. */
    boolean isForAnyone() {
        return false;
    }

    @Override
    public final int run() {
        Output form = output.form();
        AdminClient.Answer answer = ask(isForAnyone()
                ? options.withoutKey(System.getenv())
                : options.client(System.getenv()));
        String shown = form == Output.table && !answer.ok()
                ? ""
                : form.text(answer.body(), () -> table(answer.json()));
        if (!shown.isEmpty()) {
            System.out.println(shown);
        }
        if (!answer.ok()) {
            System.err.println("culvert: " + answer.problem());
        }
        return AdminOptions.exitCode(answer.status());
    }
}
