package dev.culvert.launcher.command;

import dev.culvert.client.dial.ClientConfig;
import dev.culvert.config.ConfigNode;
import dev.culvert.config.yaml.YamlFile;
import dev.culvert.launcher.run.PartConfig;
import dev.culvert.router.RouterConfig;
import dev.culvert.routing.RoutingConfig;
import java.nio.file.Path;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The routes in a file, of a router or of the router embedded in a client. */
final class RoutingFile {
    @Option(names = "--config", paramLabel = "FILE", description = "router.yaml, or a client.yaml with a router in it (CULVERT_CONFIG). Default: the default routes.")
    private @Nullable Path file;

    /** Reads the file. Blocks on the disk. Throws {@link dev.culvert.config.ConfigErrors}. */
    RoutingConfig read() {
        Map<String, String> environment = System.getenv();
        Path path = file == null && environment.containsKey("CULVERT_CONFIG")
                ? Path.of(environment.getOrDefault("CULVERT_CONFIG", ""))
                : file;
        if (path != null && isOfAClient(YamlFile.read(path))) {
            RoutingConfig inside = new PartConfig(ClientConfig.class).load(path, environment, Map.of())
                    .value(ClientConfig.class)
                    .router();
            return inside == null ? RoutingConfig.defaults() : inside;
        }
        return new PartConfig(RouterConfig.class).load(path, environment, Map.of())
                .value(RouterConfig.class)
                .routing();
    }

    private static boolean isOfAClient(ConfigNode.Entries content) {
        return content.entries().containsKey("router") || content.entries().containsKey("server");
    }
}
