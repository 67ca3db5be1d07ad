package dev.culvert.launcher.follow;

import com.fasterxml.jackson.databind.JsonNode;
import dev.culvert.launcher.admin.AdminOptions;
import dev.culvert.launcher.output.JsonTree;
import dev.culvert.launcher.output.Output;
import dev.culvert.launcher.output.OutputOption;
import dev.culvert.launcher.run.ExitCode;
import dev.culvert.launcher.run.Task;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;

/**
 * A command that prints a line for each event of a server until it is ended: by Ctrl-C, with exit code 0, or
 * because nobody reads its output any more.
 */
abstract class FollowCommand implements Task.Brief {
    @Mixin
    private final AdminOptions admin = new AdminOptions();
    @Mixin
    private final OutputOption output = new OutputOption();

    /** The path of the stream below {@code /api/v1}. */
    abstract String path();

    /** Whether an event is shown. */
    abstract boolean shows(String kind, JsonNode data);

    /** An event in one line, for people. */
    abstract String line(String kind, JsonNode data);

    /** An event as an object of one line. */
    abstract String json(String kind, String data);

    @Override
    public final int run() {
        Output form = output.form();
        var follower = new EventFollower(admin.api(System.getenv()), path(), EventFollower.FIRST_PAUSE,
                event -> print(form, event));
        var ended = new AtomicBoolean();
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            if (!ended.get()) { // a signal; each event was flushed, and a flush waits for one that is stuck
                Runtime.getRuntime().halt(ExitCode.DONE);
            }
        }, "end"));
        try {
            return follower.run();
        } finally {
            ended.set(true);
        }
    }

    /** Prints an event. Returns whether somebody reads the output. */
    private boolean print(Output form, StreamEvent event) {
        JsonNode data = JsonTree.of(event.data());
        if (event.kind().equals("missed") || event.kind().equals("requests-missed")) {
            System.err.println(
                    "culvert: " + data.path("count").asText() + " left out here: there were more than"
                            + " the server sends, or than were read");
        } else if (shows(event.kind(), data)) {
            System.out.println(text(form, event, data));
        }
        return !System.out.checkError();
    }

    private String text(Output form, StreamEvent event, @Nullable JsonNode data) {
        if (form == Output.table && data != null) {
            return line(event.kind(), data);
        }
        String json = json(event.kind(), event.data());
        return (form == Output.yaml ? "---\n" : "") + form.text(json, () -> json);
    }
}
