package dev.culvert.launcher.command;

import dev.culvert.config.SettingInfo;
import dev.culvert.launcher.run.ConfiguredCommand;
import dev.culvert.launcher.run.ExitCode;
import dev.culvert.platform.host.ControlPlane;
import dev.culvert.platform.host.ControlPlaneConfig;
import java.nio.file.Path;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import reactor.core.publisher.Mono;

/** {@code culvert control-plane backup}. */
@Command(name = "backup", description = "Copies the control plane's database to one file, mode 0600, also while it runs. To restore it, stop the control plane, delete directory.db-wal and directory.db-shm, and copy the file to directory.db.", footer = {
        "", "Example:",
        "  culvert control-plane backup --config control-plane.yaml --to directory-20260102.db"})
final class ControlPlaneBackupCommand extends ConfiguredCommand {
    @Option(names = "--to", required = true, paramLabel = "FILE", description = "A new file. It holds hashes of API keys, and the keys of runtime tokens wrapped by tokenKeys.file, which is not in it.")
    private Path to = Path.of("");

    ControlPlaneBackupCommand() {
        super(ControlPlaneConfig.class);
    }

    @Override
    public boolean takes(SettingInfo setting) {
        return setting.key().equals("dataDir");
    }

    @Override
    public Mono<Integer> run() {
        return Mono
                .defer(() -> ControlPlane.backup(binding().value(ControlPlaneConfig.class).dataDir(), to))
                .map(written -> {
                    System.out.println("backup written: " + written);
                    return ExitCode.DONE;
                });
    }
}
