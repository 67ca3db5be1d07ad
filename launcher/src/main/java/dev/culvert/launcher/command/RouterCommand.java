package dev.culvert.launcher.command;

import dev.culvert.config.ConfigBinding;
import dev.culvert.config.HostPort;
import dev.culvert.launcher.run.PartCommand;
import dev.culvert.launcher.run.RunningPart;
import dev.culvert.router.RouterConfig;
import dev.culvert.router.RouterServer;
import java.util.LinkedHashMap;
import picocli.CommandLine.Command;
import reactor.core.publisher.Mono;

/** {@code culvert router}. */
@Command(name = "router", subcommands = {
        RouterRoutesCommand.class, RouterExplainCommand.class}, footer = {"", "Examples:",
                "  culvert router --config router.yaml",
                "  culvert router explain /webhooks/argo/push --method POST --config router.yaml"})
final class RouterCommand extends PartCommand {
    RouterCommand() {
        super(RouterConfig.class);
    }

    @Override
    public Mono<RunningPart> start(ConfigBinding binding) {
        return RouterServer.start(binding.value(RouterConfig.class)).map(RouterCommand::running);
    }

    private static RunningPart running(RouterServer router) {
        var addresses = new LinkedHashMap<String, HostPort>();
        addresses.put("listen", router.address());
        HostPort health = router.healthAddress();
        if (health != null) {
            addresses.put("health", health);
        }
        HostPort admin = router.adminAddress();
        if (admin != null) {
            addresses.put("admin", admin);
        }
        return new RunningPart("request-router", addresses, Mono.never(), router::stop,
                (changed, origin) -> router.reload(changed.value(RouterConfig.class), origin));
    }
}
