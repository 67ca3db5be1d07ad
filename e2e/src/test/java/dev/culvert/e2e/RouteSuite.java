package dev.culvert.e2e;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.culvert.config.ConfigBinder;
import dev.culvert.config.ConfigNode;
import dev.culvert.config.ConfigSources;
import dev.culvert.config.HostPort;
import dev.culvert.config.Origin;
import dev.culvert.routing.RoutingConfig;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** The routes and requests of route-cases.json and route-cases.csv, for whoever sends them over sockets. */
final class RouteSuite {
    private static final Path FOLDER = Path.of("..", "request-router", "routing", "src", "test", "resources");
    private static final Pattern UPSTREAM = Pattern.compile("[a-z0-9.-]+:\\d+ .*");

    private RouteSuite() {}

    /**
     * One request, and what becomes of it.
     *
     * @param host {@code -}: any
     * @param fields {@code name: value}, each
     * @param expected {@code host:port target}, or {@code status cause hop}
     */
    record Case(String method, String host, String target, List<String> fields, String expected) {
        boolean isForwarded() {
            return UPSTREAM.matcher(expected).matches();
        }

        /** The bytes of the request, for this host if any will do; its id is always the same. */
        String bytes(String anyHost) {
            String lines = fields.stream().map(field -> field + "\r\n").collect(Collectors.joining());
            String length = method.equals("POST") || method.equals("PUT") ? "Content-Length: 0\r\n" : "";
            return method + " " + target + " HTTP/1.1\r\nHost: " + (host.equals("-") ? anyHost : host)
                    + "\r\nX-Request-Id: suite\r\nUser-Agent: suite\r\nAccept: application/problem+json\r\n"
                    + lines + length + "Connection: close\r\n\r\n";
        }

        @Override
        public String toString() {
            return method + " " + host + " " + target + " " + fields + " → " + expected;
        }
    }

    static List<Case> cases() throws IOException {
        return Files.readAllLines(FOLDER.resolve("route-cases.csv"))
                .stream()
                .filter(line -> !line.startsWith("#") && !line.isBlank())
                .map(line -> line.split("\\|", -1))
                .map(cells -> new Case(cells[0].strip(), cells[1].strip(), cells[2].strip(),
                        Arrays.stream(cells[3].split(";", -1))
                                .map(String::strip)
                                .filter(field -> !field.isEmpty())
                                .toList(),
                        cells[4].strip()))
                .toList();
    }

    /** The upstreams that cases end at, {@code host:port} each. */
    static Set<String> upstreams() throws IOException {
        return cases().stream()
                .filter(Case::isForwarded)
                .map(given -> given.expected().split(" ", 2)[0])
                .collect(Collectors.toSet());
    }

    static RoutingConfig routing(Map<String, List<HostPort>> resolve) throws IOException {
        ConfigNode node = node(new JsonMapper().readTree(FOLDER.resolve("route-cases.json").toFile()));
        RoutingConfig read = ConfigBinder
                .bind(new ConfigSources((ConfigNode.Entries) node, Map.of(), Map.of(), Map.of()),
                        List.of(RoutingConfig.class))
                .value(RoutingConfig.class);
        return new RoutingConfig(read.routes(), List.of(), read.policy(), resolve);
    }

    private static ConfigNode node(JsonNode json) {
        Origin origin = Origin.of("route-cases.json");
        if (json.isObject()) {
            Map<String, ConfigNode> entries = new LinkedHashMap<>();
            json.properties().forEach(entry -> entries.put(entry.getKey(), node(entry.getValue())));
            return new ConfigNode.Entries(entries, origin);
        } else if (json.isArray()) {
            return new ConfigNode.Items(json.valueStream().map(RouteSuite::node).toList(), origin);
        }
        return new ConfigNode.Scalar(json.asText(), origin);
    }
}
