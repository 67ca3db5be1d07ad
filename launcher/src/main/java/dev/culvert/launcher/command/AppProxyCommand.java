package dev.culvert.launcher.command;

import dev.culvert.appproxy.AppProxy;
import dev.culvert.appproxy.AppProxyConfig;
import dev.culvert.config.ConfigBinding;
import dev.culvert.launcher.run.PartCommand;
import dev.culvert.launcher.run.RunningPart;
import java.util.Map;
import picocli.CommandLine.Command;
import reactor.core.publisher.Mono;

/** {@code culvert app-proxy}. */
@Command(name = "app-proxy", footer = {
        "", "Example:", "  culvert app-proxy --config app-proxy.yaml"})
final class AppProxyCommand extends PartCommand {
    AppProxyCommand() {
        super(AppProxyConfig.class);
    }

    @Override
    public Mono<RunningPart> start(ConfigBinding binding) {
        return AppProxy.start(binding.value(AppProxyConfig.class))
                .map(proxy -> new RunningPart("app-proxy",
                        Map.of("listen", proxy.address()), Mono.never(), proxy::stop));
    }
}
