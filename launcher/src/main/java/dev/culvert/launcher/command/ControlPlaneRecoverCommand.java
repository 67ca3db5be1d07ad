package dev.culvert.launcher.command;

import dev.culvert.config.SettingInfo;
import dev.culvert.launcher.run.ConfiguredCommand;
import dev.culvert.launcher.run.ExitCode;
import dev.culvert.platform.host.ControlPlane;
import dev.culvert.platform.host.ControlPlaneConfig;
import dev.culvert.platform.host.spi.OperatorRecovery.Recovered;
import java.nio.file.Path;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import reactor.core.publisher.Mono;

/** {@code culvert control-plane recover}. */
@Command(name = "recover", description = "Gives an operator access again who has no API key: writes a new one to a file, mode 0600. Works on the database itself, so it needs the machine; a control plane on SQLite must be stopped first. It is recorded in the audit log.", footer = {
        "", "Example:",
        "  culvert control-plane recover --config control-plane.yaml --to operator.key"})
final class ControlPlaneRecoverCommand extends ConfiguredCommand {
    @Option(names = "--to", required = true, paramLabel = "FILE", description = "A new file for the API key. It opens every account: keep it elsewhere and delete the file.")
    private Path to = Path.of("");

    ControlPlaneRecoverCommand() {
        super(ControlPlaneConfig.class);
    }

    @Override
    public boolean takes(SettingInfo setting) {
        return setting.key().equals("dataDir") || setting.key().startsWith("store.");
    }

    @Override
    public Mono<Integer> run() {
        return Mono.defer(() -> ControlPlane.recover(binding().value(ControlPlaneConfig.class), to))
                .map(done -> {
                    System.out.println(text(done, to));
                    return ExitCode.DONE;
                });
    }

    private static String text(Recovered done, Path to) {
        String operator = done.email() + " (" + done.user() + ") of account " + done.account();
        return (done.isNew()
                ? "there was no operator: made " + operator
                : "operator " + operator + " has a new API key")
                + "\nkey " + done.key() + " written: " + to + " (mode 0600)"
                + "\nother valid keys of operators: " + done.others()
                + (done.others() == 0 ? "" : "; look through them with GET /api/keys, and delete lost ones");
    }
}
