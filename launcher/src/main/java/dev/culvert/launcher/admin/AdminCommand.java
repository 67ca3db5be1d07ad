package dev.culvert.launcher.admin;

import com.fasterxml.jackson.databind.JsonNode;
import dev.culvert.launcher.output.Output;
import dev.culvert.launcher.output.OutputOption;
import dev.culvert.launcher.run.Task;
import picocli.CommandLine.Mixin;

/** A command that sends one request to the admin API and prints the response on standard output. */
public abstract class AdminCommand implements Task.Brief {
    @Mixin
    private AdminOptions api = new AdminOptions();

    @Mixin
    private OutputOption output = new OutputOption();

    /** Sends the request. {@code Failures} reports errors. */
    abstract AdminClient.Answer ask(AdminClient api);

    /** Formats the response for people. */
    abstract String table(JsonNode answer);

    @Override
    public final int run() {
        Output form = output.form();
        return print(ask(api.api(System.getenv())), form);
    }

    private int print(AdminClient.Answer answer, Output form) {
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
