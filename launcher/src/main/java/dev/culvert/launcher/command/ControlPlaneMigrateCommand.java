package dev.culvert.launcher.command;

import dev.culvert.config.SettingInfo;
import dev.culvert.launcher.output.Progress;
import dev.culvert.launcher.run.ConfiguredCommand;
import dev.culvert.launcher.run.ExitCode;
import dev.culvert.platform.host.ControlPlane;
import dev.culvert.platform.host.ControlPlaneConfig;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import reactor.core.publisher.Mono;

/** {@code culvert control-plane migrate}. */
@Command(name = "migrate", description = "Copies the control plane's file directory.db to the PostgreSQL database that store names, in one transaction, and compares all rows. The file keeps its content. Stop the control plane before. A second run changes nothing.", footer = {
        "", "Example:",
        "  culvert control-plane migrate --config control-plane.yaml --to postgres"})
final class ControlPlaneMigrateCommand extends ConfiguredCommand {
    /** The engines that can be copied to. */
    enum Target {
        postgres
    }

    @Option(names = "--to", required = true, paramLabel = "KIND", description = "postgres.")
    private Target to = Target.postgres;

    ControlPlaneMigrateCommand() {
        super(ControlPlaneConfig.class);
    }

    @Override
    public boolean takes(SettingInfo setting) {
        return setting.key().equals("dataDir") || setting.key().startsWith("store.");
    }

    @Override
    public Mono<Integer> run() {
        return Mono
                .using(() -> Progress.begin("culvert control-plane migrate"), progress -> switch (to) {
                    case postgres -> ControlPlane.migrate(binding().value(ControlPlaneConfig.class));
                })
                .map(lines -> {
                    lines.forEach(System.out::println);
                    return ExitCode.DONE;
                });
    }
}
