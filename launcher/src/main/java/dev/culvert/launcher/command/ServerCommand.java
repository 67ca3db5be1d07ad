package dev.culvert.launcher.command;

import dev.culvert.config.ConfigBinding;
import dev.culvert.config.HostPort;
import dev.culvert.launcher.run.PartCommand;
import dev.culvert.launcher.run.RunningPart;
import dev.culvert.server.ServerConfig;
import dev.culvert.server.TunnelServer;
import java.util.LinkedHashMap;
import picocli.CommandLine.Command;
import reactor.core.publisher.Mono;

/** {@code culvert server}. */
@Command(name = "server", subcommands = {
        ServerStoreCommand.Backup.class, ServerStoreCommand.Restore.class}, footer = {
                "",
                "Example:", "  culvert server --config server.yaml --edge-domain tunnels.example.com"})
final class ServerCommand extends PartCommand {
    ServerCommand() {
        super(ServerConfig.class);
    }

    @Override
    public Mono<RunningPart> start(ConfigBinding binding) {
        return TunnelServer.start(binding.value(ServerConfig.class), binding.effective())
                .map(ServerCommand::running);
    }

    private static RunningPart running(TunnelServer server) {
        var addresses = new LinkedHashMap<String, HostPort>();
        addresses.put("edge", server.edgeAddress());
        HostPort tcp = server.tcpAddress();
        if (tcp != null) {
            addresses.put("tcp", tcp);
        }
        addresses.put("tunnel", server.tunnelAddress());
        addresses.put("admin", server.adminAddress());
        return new RunningPart("tunnel-server", addresses, server.ended(), server::stop);
    }
}
