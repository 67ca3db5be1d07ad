package dev.culvert.benchmarks;

import dev.culvert.http.net.EventLoops;
import io.netty.handler.ssl.util.InsecureTrustManagerFactory;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.netty.http.Http11SslContextSpec;
import reactor.netty.http.client.HttpClient;
import reactor.netty.resources.ConnectionProvider;
import reactor.netty.tcp.SslProvider.GenericSslContextSpec;

/**
 * {@code culvert bench storm callers}: sends requests to runtimes in turn, at a fixed rate that does not
 * depend on responses. Prints a line for each request: {@code get HOST-NUMBER STATUS BEGAN-MILLIS MICROS}.
 * Status 0 is a failure without a response.
 */
@Command(name = "callers", mixinStandardHelpOptions = true, description = "Asks runtimes in turn, at a fixed rate.", footer = {
        "", "Example:",
        "  culvert bench storm callers --edge 127.0.0.1:8443 --hosts a-1.t.example --rate 100"})
final class StormCallersCommand implements Callable<Integer> {
    private static final Duration TIMEOUT = Duration.ofSeconds(10);
    private static final int MAX_OPEN = 2000;

    @Option(names = "--edge", required = true, description = "host:port of the edge.")
    private String edge = "";

    @Option(names = "--hosts", required = true, split = ",", description = "The runtimes' hosts.")
    private List<String> hosts = List.of();

    @Option(names = "--rate", defaultValue = "100", description = "Requests a second. Default: ${DEFAULT-VALUE}")
    private int rate;

    @Override
    public Integer call() {
        EventLoops loops = EventLoops.create(1);
        GenericSslContextSpec<?> tls = Http11SslContextSpec.forClient()
                .configure(builder -> builder.trustManager(InsecureTrustManagerFactory.INSTANCE));
        HttpClient client = HttpClient
                .create(ConnectionProvider.builder("callers").maxConnections(MAX_OPEN).build())
                .runOn(loops)
                .secure(spec -> spec.sslContext(tls))
                .responseTimeout(TIMEOUT)
                .disableRetry(true)
                .baseUrl("https://" + edge);
        Flux.interval(Duration.ofNanos(1_000_000_000L / rate))
                .onBackpressureDrop()
                .flatMap(tick -> ask(client, (int) (tick % hosts.size())), MAX_OPEN)
                .blockLast();
        return 0;
    }

    private Mono<Void> ask(HttpClient client, int number) {
        return Mono.defer(() -> {
            long began = System.currentTimeMillis();
            long nanos = System.nanoTime();
            return client.headers(fields -> fields.set("host", hosts.get(number)))
                    .get()
                    .uri("/")
                    .responseSingle((head, body) -> body.asByteArray().thenReturn(head.status().code()))
                    .onErrorReturn(0)
                    .doOnNext(status -> System.out.println("get " + number + " " + status + " " + began + " "
                            + (System.nanoTime() - nanos) / 1000))
                    .then();
        });
    }
}
