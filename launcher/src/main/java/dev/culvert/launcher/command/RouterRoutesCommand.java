package dev.culvert.launcher.command;

import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.culvert.launcher.output.OutputOption;
import dev.culvert.launcher.output.TextTable;
import dev.culvert.launcher.run.ExitCode;
import dev.culvert.launcher.run.Task;
import dev.culvert.routing.RouteConfig;
import dev.culvert.routing.RoutingConfig;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import reactor.core.publisher.Mono;

/** {@code culvert router routes}: shows the effective route table. */
@Command(name = "routes", description = "Lists the routes of a file in its order, after checking all of it.", footer = {
        "", "Example:", "  culvert router routes --config router.yaml"})
final class RouterRoutesCommand implements Task.Reactive {
    @Mixin
    private final RoutingFile file = new RoutingFile();

    @Mixin
    private final OutputOption output = new OutputOption();

    @Override
    public Mono<Integer> run() {
        return Mono.fromCallable(() -> {
            RoutingConfig config = file.read();
            System.out.println(output.text(json(config), () -> table(config)));
            return ExitCode.DONE;
        });
    }

    private static String table(RoutingConfig config) {
        var rows = new ArrayList<List<String>>();
        rows.add(List.of("ROUTE", "PATH", "HOST", "METHODS", "HEADERS", "TO", "DELIVERY"));
        List<RouteConfig> routes = config.effectiveRoutes();
        for (int i = 0; i < routes.size(); i++) {
            RouteConfig route = routes.get(i);
            rows.add(List.of("routes[" + i + "]", route.path(), route.host() == null ? "*" : route.host(),
                    route.methods().isEmpty() ? "*" : String.join(",", route.methods()),
                    route.headers().isEmpty() ? "-" : headers(route), route.to(), delivery(route)));
        }
        return TextTable.of(rows);
    }

    private static String json(RoutingConfig config) {
        ObjectNode document = new JsonMapper().createObjectNode();
        var items = document.putArray("items");
        for (RouteConfig route : config.effectiveRoutes()) {
            ObjectNode item = items.addObject().put("path", route.path()).put("host", route.host());
            route.methods().forEach(item.putArray("methods")::add);
            route.headers().forEach(item.putObject("headers")::put);
            item.put("to", route.to()).put("delivery", delivery(route));
        }
        return document.putNull("next").toPrettyString();
    }

    private static String headers(RouteConfig route) {
        return route.headers()
                .entrySet()
                .stream()
                .map(field -> field.getKey() + ":" + field.getValue())
                .sorted()
                .reduce((left, right) -> left + "," + right)
                .orElse("-");
    }

    private static String delivery(RouteConfig route) {
        return route.durable() ? "durable" : "direct";
    }
}
