package dev.culvert.helm;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** The ways to install the chart, each with a file of values in {@code examples}. */
enum Mode {
    TUNNEL("client app-proxy"), INGRESS("router app-proxy"), HTTP_ROUTE("router app-proxy"), EXPLICIT_URL(
            "router app-proxy"), SINGLE_NAMESPACE("client app-proxy"), GITHUB("client app-proxy"), EVERYTHING(
                    "client app-proxy server"), VOLUMES(
                            "client app-proxy"), ROUTER_WITHOUT_VOLUME("router"), SERVER("server");

    private final String parts;

    Mode(String parts) {
        this.parts = parts;
    }

    /** Its values, in a new tree. */
    Map<String, Object> tree() throws IOException {
        String name = name().toLowerCase(Locale.ROOT).replace('_', '-');
        return Yaml.map(Path.of("examples", name + ".yaml"));
    }

    /** The commands whose pods it renders. */
    List<String> parts() {
        return List.of(parts.split(" "));
    }
}
