package dev.culvert.launcher.command;

import dev.culvert.config.ConfigBinding;
import dev.culvert.launcher.platform.TokenKeyCommand;
import dev.culvert.launcher.run.PartCommand;
import dev.culvert.launcher.run.RunningPart;
import dev.culvert.platform.host.ControlPlane;
import dev.culvert.platform.host.ControlPlaneConfig;
import java.util.Map;
import picocli.CommandLine.Command;
import reactor.core.publisher.Mono;

/** {@code culvert control-plane}. */
@Command(name = "control-plane", subcommands = {ControlPlaneBackupCommand.class,
        ControlPlaneMigrateCommand.class,
        ControlPlaneRecoverCommand.class,
        TokenKeyCommand.class}, footer = {
                "", "Example:", "  culvert control-plane --config control-plane.yaml"})
final class ControlPlaneCommand extends PartCommand {
    ControlPlaneCommand() {
        super(ControlPlaneConfig.class);
    }

    @Override
    public void check(ConfigBinding binding) {
        ControlPlane.check(binding.value(ControlPlaneConfig.class));
    }

    @Override
    public Mono<RunningPart> start(ConfigBinding binding) {
        return ControlPlane.start(binding.value(ControlPlaneConfig.class))
                .map(plane -> new RunningPart("control-plane", Map.of("listen", plane.address()),
                        plane.lost(),
                        plane::stop));
    }
}
