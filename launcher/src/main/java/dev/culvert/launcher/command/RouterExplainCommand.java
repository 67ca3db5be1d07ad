package dev.culvert.launcher.command;

import dev.culvert.launcher.run.CommandException;
import dev.culvert.launcher.run.ExitCode;
import dev.culvert.launcher.run.Task;
import dev.culvert.relay.route.RouteQuery;
import dev.culvert.routing.RouteExplanation;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.Http2Headers;
import java.net.InetAddress;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import reactor.core.publisher.Mono;

/** {@code culvert router explain}: shows the route of a URL and why the other routes do not match. */
@Command(name = "explain", description = {
        "Says which route a request takes, where it goes, and why the other routes do not take it.",
        "Nothing is sent. Exits with 0 when the request would be forwarded, 1 when it would be refused."}, footer = {
                "", "Examples:",
                "  culvert router explain /webhooks/argo/push --method POST --config router.yaml",
                "  culvert router explain https://app.example.com/v1/x --header x-env:staging"})
final class RouterExplainCommand implements Task.Reactive {
    @Parameters(paramLabel = "URL", description = "The URL, or its path alone, as it would be sent.")
    private String url = "";

    @Mixin
    private final RoutingFile file = new RoutingFile();

    @Option(names = "--method", paramLabel = "M", defaultValue = "GET", description = "Default: ${DEFAULT-VALUE}.")
    private String method = "GET";

    @Option(names = "--header", paramLabel = "NAME:VALUE", description = "A header field; may be given several times.")
    private List<String> headers = List.of();

    @Option(names = "--address", paramLabel = "IP", description = "The caller's address, for routes that list some.")
    private @Nullable String address;

    @Override
    public Mono<Integer> run() {
        return Mono.fromCallable(() -> {
            RouteExplanation explanation = RouteExplanation.of(file.read(),
                    RouteQuery.of(head(), caller()));
            System.out.println(explanation.text());
            return explanation.isForwarded() ? ExitCode.DONE : ExitCode.FAILED;
        });
    }

    /**
     * Builds the head. The path is not parsed by a library, which would normalise the path that the command
     * explains.
     */
    private Http2Headers head() {
        int scheme = url.indexOf("://");
        int slash = scheme < 0 ? 0 : url.indexOf('/', scheme + 3);
        String path = slash < 0 ? "/" : url.substring(slash);
        if (scheme < 0 && !url.startsWith("/") && !url.equals("*")) {
            throw new CommandException(ExitCode.USAGE,
                    url + " (expected: a URL as https://app.example.com/v1/x, or a path as /v1/x)");
        }
        String authority = scheme < 0 ? "" : url.substring(scheme + 3, slash < 0 ? url.length() : slash);
        Http2Headers head = new DefaultHttp2Headers(false).method(method).authority(authority).path(path);
        for (String header : headers) {
            int colon = header.indexOf(':');
            if (colon < 1) {
                throw new CommandException(ExitCode.USAGE, header + " (expected: name:value)");
            }
            head.add(header.substring(0, colon).strip().toLowerCase(Locale.ROOT),
                    header.substring(colon + 1).strip());
        }
        return head;
    }

    private @Nullable InetAddress caller() {
        try {
            return address == null ? null : InetAddress.ofLiteral(address);
        } catch (IllegalArgumentException e) {
            throw new CommandException(ExitCode.USAGE, address + " (expected: an address as 192.0.2.7)");
        }
    }
}
