package dev.culvert.routing;

import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.http.observe.RotatedFile;
import dev.culvert.relay.route.RouteProblem;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.Http2Headers;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RouterAuditFilesTest {
    private static final Clock CLOCK = Clock.fixed(Instant.parse("2026-01-02T03:04:05Z"), ZoneOffset.UTC);

    @TempDir
    Path folder;

    private static Http2Headers head() {
        return new DefaultHttp2Headers().method("POST")
                .authority("acme-prod.example")
                .path("/webhooks/x/y?token=hush")
                .add("x-request-id", "r1")
                .add("culvert-caller-subject", "CN=ann");
    }

    @Test
    void aRefusalSaysWhoWhatWhen() throws IOException {
        try (RouterAuditFiles audit = RouterAuditFiles.in(folder, CLOCK)) {
            audit.refused(InetAddress.ofLiteral("192.0.2.7"), head(), RouteProblem.EVENT_SOURCE);
        }

        assertThat(Files.readString(folder.resolve("audit-refused.log"))).isEqualTo(
                "{\"time\":\"2026-01-02T03:04:05Z\",\"user\":\"CN=ann\",\"action\":\"POST\",\"entity\":\"request\","
                        + "\"object\":\"acme-prod.example/webhooks/x/y\",\"decision\":\"denied\",\"requestId\":\"r1\","
                        + "\"address\":\"192.0.2.7\",\"reason\":\"not-allowed: the cluster's policy does not allow this event source\"}\n");
    }

    @Test
    void changesHaveAFileOfTheirOwnThatOnlyItsOwnerReads() throws IOException {
        try (RouterAuditFiles audit = RouterAuditFiles.in(folder.resolve("made"), CLOCK)) {
            audit.changed("policy", "router.yaml", "x\ny");
        }

        Path file = folder.resolve("made/audit-changes.log");
        assertThat(Files.readAllLines(file)).containsExactly(
                "{\"time\":\"2026-01-02T03:04:05Z\",\"user\":\"router.yaml\",\"action\":\"policy\",\"entity\":\"router\","
                        + "\"object\":\"x\\ny\",\"decision\":\"allowed\"}");
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file))).isEqualTo("rw-------");
    }

    @Test
    void aFullFileMakesRoomAndTheOldestGoes() throws IOException {
        RotatedFile file = new RotatedFile(folder, "x.log", 100);

        for (int i = 0; i < 60; i++) {
            file.append("line %02d ............................".formatted(i));
        }
        file.close();

        try (Stream<Path> files = Files.list(folder)) {
            assertThat(files.map(each -> each.getFileName().toString())).containsExactlyInAnyOrder("x.log",
                    "x.log.1", "x.log.2", "x.log.3", "x.log.4");
        }
        assertThat(Files.readAllLines(folder.resolve("x.log")).getLast()).startsWith("line 59");
        assertThat(Files.size(folder.resolve("x.log.4"))).isLessThanOrEqualTo(100);
    }

    @Test
    void linesAfterTheEndOfTheProcessAreNotLostAtTheNextStart() throws IOException {
        for (int i = 0; i < 2; i++) {
            try (RouterAuditFiles audit = RouterAuditFiles.in(folder, CLOCK)) {
                audit.changed("pause", "operator", "");
            }
        }

        assertThat(Files.readAllLines(folder.resolve("audit-changes.log"))).hasSize(2);
    }

    @Test
    void whatComesFasterThanItIsWrittenIsLeftOutButChangesHaveRoom() {
        RouterAuditFiles audit = new RouterAuditFiles(folder, CLOCK, writing -> {});

        for (int i = 0; i < RouterAuditFiles.MAX_QUEUED; i++) {
            audit.refused(null, head(), RouteProblem.REQUEST);
        }
        long refusals = audit.dropped();
        audit.changed("pause", "operator", "");

        assertThat(refusals).isPositive();
        assertThat(audit.dropped()).isEqualTo(refusals);
    }

    @Test
    void aDiskThatFailsStopsNobody() throws IOException {
        Files.writeString(folder.resolve("file"), "no folder");
        RouterAuditFiles audit = RouterAuditFiles.in(folder.resolve("file"), CLOCK);

        audit.refused(null, head(), RouteProblem.REQUEST);
        audit.close();

        assertThat(audit.dropped()).isPositive();
    }
}
