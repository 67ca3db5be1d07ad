package dev.culvert.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import dev.culvert.client.TunnelClient;
import dev.culvert.config.HostPort;
import dev.culvert.relay.route.Verification;
import dev.culvert.routing.RouteConfig;
import dev.culvert.routing.RoutingConfig;
import dev.culvert.routing.RoutingConfig.Policy;
import io.netty.handler.codec.http.HttpMethod;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;
import reactor.netty.ByteBufFlux;
import reactor.netty.DisposableServer;
import reactor.netty.http.server.HttpServer;

/** Signatures of webhooks at the server's edge, with secrets that the cluster's owner shares. */
class SignedWebhooksIT {
    private static final Duration PATIENCE = Duration.ofMinutes(1);
    private static final Logger LOGGER = (Logger) LoggerFactory.getLogger("dev.culvert");

    @TempDir
    Path folder;

    private final List<String> received = new CopyOnWriteArrayList<>();
    private final ListAppender<ILoggingEvent> log = new ListAppender<>();
    private @Nullable Level level;
    private Path secret;
    private DisposableServer eventSource;
    private Platform platform;
    private TunnelClient client;

    @BeforeEach
    void start() throws Exception {
        level = LOGGER.getLevel();
        LOGGER.setLevel(Level.DEBUG);
        LOGGER.setAdditive(false);
        log.start();
        LOGGER.addAppender(log);
        eventSource = HttpServer.create()
                .host("127.0.0.1")
                .port(0)
                .handle((request, response) -> request.receive()
                        .aggregate()
                        .asString()
                        .doOnNext(received::add)
                        .then(response.sendString(Mono.just("taken")).then()))
                .bindNow();
        secret = Files.writeString(folder.resolve("secret"), "hush-one\n");
        platform = Platform.start(folder);
        connect(platform.createRuntime("acme", "prod"));
        await().until(() -> send("early", "no secret").startsWith("401 ")); // announced a moment after the connect
        received.clear();
    }

    @AfterEach
    void stop() {
        platform.close();
        eventSource.disposeNow();
        LOGGER.detachAppender(log);
        LOGGER.setLevel(level);
        LOGGER.setAdditive(true);
    }

    private void connect(@Nullable Path token) throws InterruptedException {
        var route = new RouteConfig("/webhooks/{namespace}/{eventSource}/",
                "http://{eventSource}.{namespace}",
                null, List.of(), Map.of(), false, null, null, null, null, RouteConfig.Order.SOURCE,
                new RouteConfig.Verify(Verification.Provider.GITHUB, secret, true), null, null, 0, List.of());
        var router = new RoutingConfig(List.of(route), Policy.allowing(List.of("argo/*")),
                Map.of("push.argo", new HostPort("127.0.0.1", eventSource.port())));
        client = platform.connect(platform.clientConfig("acme", "prod", token, null, router));
    }

    private static String signature(String body, String key) {
        try {
            Mac mac = Mac.getInstance("HmacSHA256");
            mac.init(new SecretKeySpec(key.getBytes(StandardCharsets.UTF_8), "HmacSHA256"));
            return "sha256=" + HexFormat.of().formatHex(mac.doFinal(body.getBytes(StandardCharsets.UTF_8)));
        } catch (GeneralSecurityException e) {
            throw new AssertionError(e);
        }
    }

    /** Returns status and body. */
    private String send(String body, String key) {
        return platform.caller("acme", "prod")
                .headers(all -> all.set("x-hub-signature-256", signature(body, key)))
                .post()
                .uri("/webhooks/argo/push")
                .send(ByteBufFlux.fromString(Mono.just(body)))
                .responseSingle((head, content) -> content.asString()
                        .defaultIfEmpty("")
                        .map(text -> head.status().code() + " " + text))
                .blockOptional(PATIENCE)
                .orElseThrow();
    }

    @Test
    void aBadSignatureIsRefusedAndAChangedSecretTakesItsPlace() throws Exception {
        assertThat(send("good", "hush-one")).isEqualTo("200 taken");
        assertThat(send("bad", "hush-two")).startsWith("401 ")
                .contains("urn:culvert:problem:bad-signature", "\"hop\":\"edge\"");
        assertThat(received).containsExactly("good");

        Files.writeString(secret, "hush-one\nhush-two\n");
        await().atMost(PATIENCE).until(() -> send("next", "hush-two").startsWith("200 "));
        assertThat(send("still", "hush-one")).startsWith("200 ");
        Files.writeString(secret, "hush-two\n");
        await().atMost(PATIENCE).until(() -> send("old", "hush-one").startsWith("401 "));
        assertThat(send("new", "hush-two")).startsWith("200 ");
        Files.delete(secret);
        await().atMost(PATIENCE).until(() -> send("nothing", "hush-two").startsWith("401 "));

        assertThat(log.list)
                .anyMatch(line -> line.getFormattedMessage().contains("secrets of webhooks can't be read"))
                .noneMatch(line -> line.toString().contains("hush-")
                        || String.valueOf(line.getKeyValuePairs()).contains("hush-"));
    }

    @Test
    void aServerThatRestartsWithoutTheTunnelVerifiesAndTellsNobodyWithWhat() throws Exception {
        client.stop(Duration.ZERO).block(PATIENCE);
        platform.server.stop(Duration.ZERO).block(PATIENCE);
        platform = Platform.restart(folder);

        assertThat(send("bad", "hush-two")).startsWith("401 ");
        assertThat(send("good", "hush-one")).startsWith("202 ");
        for (String file : List.of("culvert.db", "inbox/inbox.db")) {
            assertThat(PosixFilePermissions.toString(
                    Files.getPosixFilePermissions(folder.resolve("data").resolve(file))))
                    .isEqualTo("rw-------");
        }
        for (String path : List.of("runtimes/acme/prod", "runtimes", "webhooks")) {
            assertThat(platform.admin(HttpMethod.GET, "/api/v1/" + path, ""))
                    .doesNotContain("hush-", "aHVzaC", "secrets");
        }
        connect(null);
        await().atMost(PATIENCE).until(() -> !received.isEmpty());
        assertThat(received).containsExactly("good");
    }
}
