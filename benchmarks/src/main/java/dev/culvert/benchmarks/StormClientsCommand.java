package dev.culvert.benchmarks;

import dev.culvert.client.TunnelClient;
import dev.culvert.client.dial.ClientConfig;
import dev.culvert.client.link.ClientEvent;
import dev.culvert.config.HostPort;
import dev.culvert.http.net.EventLoops;
import java.net.URI;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import reactor.core.publisher.Mono;
import reactor.netty.DisposableServer;
import reactor.netty.http.server.HttpServer;

/**
 * {@code culvert bench storm clients}: runs many tunnel clients on shared event loops with one common
 * upstream. Prints a line for each tunnel that comes up or is lost: {@code up|down NUMBER MILLIS}.
 */
@Command(name = "clients", mixinStandardHelpOptions = true, description = "Many tunnel clients in this process. Files: DIR/N.token, DIR/N for the identity.", footer = {
        "", "Example:",
        "  culvert bench storm clients --server wss://localhost:7443 --dir tokens --from 0 --to 500"})
final class StormClientsCommand implements Callable<Integer> {
    private static final HostPort NO_PORT = HostPort.parse("127.0.0.1:0");

    @Option(names = "--server", required = true, description = "The tunnel server.")
    private URI server = URI.create("wss://localhost");

    @Option(names = "--dir", required = true, description = "Where tokens and identities are.")
    private Path dir = Path.of("");

    @Option(names = "--from", required = true, description = "The first client's number.")
    private int from;

    @Option(names = "--to", required = true, description = "The number behind the last client's.")
    private int to;

    @Option(names = "--connections", defaultValue = "2", description = "Of each client. Default: ${DEFAULT-VALUE}")
    private int connections;

    @Option(names = "--pause", defaultValue = "10", description = "Milliseconds between two starts. Default: ${DEFAULT-VALUE}")
    private int pauseMillis;

    @Override
    public Integer call() throws InterruptedException {
        EventLoops loops = EventLoops.create();
        DisposableServer upstream = HttpServer.create()
                .runOn(loops)
                .host("127.0.0.1")
                .port(0)
                .handle((request, response) -> response.sendString(Mono.just("hello")))
                .bindNow();
        URI target = URI.create("http://127.0.0.1:" + upstream.port());
        List<TunnelClient> clients = new ArrayList<>();
        for (int number = from; number < to; number++) {
            clients.add(start(number, target, loops));
            TimeUnit.MILLISECONDS.sleep(pauseMillis);
        }
        System.out.println("started " + clients.size() + " " + System.currentTimeMillis());
        new CountDownLatch(1).await(); // until the process is ended
        return 0;
    }

    private TunnelClient start(int number, URI target, EventLoops loops) {
        var config = new ClientConfig(List.of(server), null, dir.resolve(number + ".token"),
                dir.resolve(Integer.toString(number)), new ClientConfig.Health(NO_PORT), target, null, null,
                connections);
        return TunnelClient.embed(config, loops,
                event -> System.out
                        .println((event instanceof ClientEvent.Connected ? "up " : "down ") + number
                                + " " + System.currentTimeMillis()));
    }
}
