package dev.culvert.launcher.command;

import dev.culvert.launcher.admin.SocketHttp;
import dev.culvert.launcher.run.CommandException;
import dev.culvert.launcher.run.ExitCode;
import dev.culvert.launcher.run.Task;
import java.net.URI;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * {@code culvert client pause|resume}: controls a running client through its health listener, on the client's
 * own machine.
 */
abstract class ClientControlCommand implements Task.Brief {
    @Option(names = "--health", paramLabel = "URL", defaultValue = "http://127.0.0.1:8081", description = "The client's health listener, by a loopback address. Default: ${DEFAULT-VALUE}.")
    private URI health = URI.create("http://127.0.0.1:8081");

    private final String done;

    ClientControlCommand(String done) {
        this.done = done;
    }

    /** The path of the request to the health listener. */
    abstract String path();

    @Override
    public int run() {
        SocketHttp.Response response = new ClientHealth(health).post(path());
        if (response.status() == 204) {
            System.out.println(done);
            return ExitCode.DONE;
        }
        if (response.status() == 403) {
            throw new CommandException(ExitCode.FAILED, health
                    + " takes this from its own machine or container only (expected: http://127.0.0.1:port, there)");
        }
        if (response.status() == 500) {
            throw new CommandException(ExitCode.FAILED, response.body().strip());
        }
        throw new CommandException(ExitCode.UNAVAILABLE,
                health + " is no client's health listener: it answered " + response.status());
    }

    /** {@code pause}. */
    @Command(name = "pause", description = {
            "Lets a running client's tunnel go: new requests are refused, those in flight have 30 s to end.",
            "Lasts until resume, also when the client is started anew, and whatever the platform does."}, footer = {
                    "",
                    "Examples:",
                    "  culvert client pause --health http://127.0.0.1:8081", "  culvert client pause --now"})
    static final class Pause extends ClientControlCommand {
        @Option(names = "--now", description = "End requests in flight at once, too.")
        private boolean now;

        Pause() {
            super("paused; culvert client resume ends that");
        }

        @Override
        String path() {
            return now ? "/pause/now" : "/pause";
        }
    }

    /** {@code resume}. */
    @Command(name = "resume", description = "Lets a paused client connect again.", footer = {"", "Example:",
            "  culvert client resume --health http://127.0.0.1:8081"})
    static final class Resume extends ClientControlCommand {
        Resume() {
            super("resumed");
        }

        @Override
        String path() {
            return "/resume";
        }
    }
}
