package dev.culvert.launcher.command;

import java.util.Set;
import picocli.CommandLine.Command;

/** {@code culvert client status|pause|resume}: the commands of {@link ClientCommand} that start no client. */
@Command(name = "client", subcommands = {ClientStatusCommand.class, ClientControlCommand.Pause.class,
        ClientControlCommand.Resume.class})
final class ClientControls {
    /** The names of the commands. */
    static final Set<String> NAMES = Set.of("status", "pause", "resume");
}
