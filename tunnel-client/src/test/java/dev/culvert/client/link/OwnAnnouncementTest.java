package dev.culvert.client.link;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import dev.culvert.config.ConfigException;
import dev.culvert.relay.route.Verification;
import dev.culvert.routing.RouteConfig;
import dev.culvert.routing.RoutingConfig;
import dev.culvert.routing.RoutingConfig.Policy;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;

class OwnAnnouncementTest {
    private static final Logger LOGGER = (Logger) LoggerFactory.getLogger(OwnAnnouncement.class);

    @TempDir
    private Path folder;

    private final ListAppender<ILoggingEvent> log = new ListAppender<>();

    @BeforeEach
    void listen() {
        log.start();
        LOGGER.setLevel(Level.WARN);
        LOGGER.setAdditive(false);
        LOGGER.addAppender(log);
    }

    @AfterEach
    void stop() {
        LOGGER.detachAppender(log);
        LOGGER.setLevel(null);
        LOGGER.setAdditive(true);
    }

    private RouteConfig route(String path, boolean share) {
        return new RouteConfig(path, "http://in", null, List.of(), Map.of(), false, null, null, null,
                RouteConfig.Delivery.DURABLE, RouteConfig.Order.SOURCE,
                new RouteConfig.Verify(Verification.Provider.GITHUB, folder.resolve("secret"), share), null,
                null, 0, List.of());
    }

    private static RoutingConfig routing(List<RouteConfig> routes) {
        return new RoutingConfig(routes, Policy.refusing(), Map.of());
    }

    private static OwnAnnouncement announcement(RouteConfig... routes) {
        return new OwnAnnouncement(routing(List.of(routes)), () -> {});
    }

    private static String text(OwnAnnouncement announcement) {
        announcement.close();
        return new String(announcement.document(), StandardCharsets.UTF_8);
    }

    @Test
    void onlyWhatTheOwnerSharesIsAnnounced() throws Exception {
        Files.writeString(folder.resolve("secret"), "hush\nnext\n");

        assertThat(text(announcement(route("/in/", true))))
                .contains("\"verify\":\"github\",\"secrets\":[\"aHVzaA==\",\"bmV4dA==\"]");
        assertThat(text(announcement(route("/in/", false)))).contains("\"verify\":\"github\"")
                .doesNotContain("secrets", "aHVzaA==");
    }

    @Test
    void aFileThatCantBeReadIsAnnouncedAsNoSecretAtAll() {
        assertThat(text(announcement(route("/in/", true)))).contains("\"secrets\":[]");
    }

    @Test
    void aRouteThatIsVerifiedNowhereIsNamed() {
        announcement(route("/quiet/", true), route("/in/", false)).close();

        assertThat(log.list).singleElement().satisfies(line -> {
            assertThat(line.getFormattedMessage()).contains("verified nowhere", "shareWithServer");
            assertThat(line.getKeyValuePairs().toString()).contains("/in/");
        });
    }

    @Test
    void whatIsTooMuchToTellChangesNothing() throws Exception {
        OwnAnnouncement announcement = announcement(route("/in/", true));
        byte[] before = announcement.document();
        Files.writeString(folder.resolve("secret"), ("x".repeat(1024) + "\n").repeat(8));
        List<RouteConfig> many = IntStream.range(0, 30).mapToObj(i -> route("/in/" + i + "/", true)).toList();

        assertThatThrownBy(() -> announcement.replace(routing(many), () -> {
            throw new AssertionError("it does not fit");
        })).isInstanceOf(ConfigException.class).hasMessageNotContaining("xxx");
        assertThat(announcement.document()).isSameAs(before);
        announcement.close();
    }
}
