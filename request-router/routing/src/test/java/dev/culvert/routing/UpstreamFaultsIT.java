package dev.culvert.routing;

import static dev.culvert.routing.RawUpstream.head;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import dev.culvert.certs.CertificateAuthority;
import dev.culvert.certs.TlsMaterial;
import dev.culvert.certs.tls.ServerTrust;
import dev.culvert.http.net.EventLoops;
import dev.culvert.http.observe.Telemetry;
import dev.culvert.http.problem.Problem;
import dev.culvert.http.problem.Problem.Hop;
import dev.culvert.http.problem.ProxyStatus;
import dev.culvert.relay.testing.Leaks;
import dev.culvert.relay.upstream.RouteFigures;
import dev.culvert.relay.upstream.UpstreamTls;
import dev.culvert.routing.RawUpstream.Peer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.slf4j.LoggerFactory;

/** The table of docs/problems.md: each fault as the caller, the log and the metric tell it. */
class UpstreamFaultsIT {
    private static final Path PAGE = Path.of("..", "..", "docs", "problems.md");
    private static final Logger LOG = (Logger) LoggerFactory.getLogger(RouteFigures.class);
    private static final CertificateAuthority AUTHORITY = CertificateAuthority.create("test",
            Clock.systemUTC());
    private static final CertificateAuthority ENDED = CertificateAuthority.create("old",
            Clock.offset(Clock.systemUTC(), Duration.ofDays(-30)));
    private static final CertificateAuthority UNKNOWN = CertificateAuthority.create("unknown",
            Clock.systemUTC());
    /** RFC 8446 §6: fatal, handshake_failure. */
    private static final byte[] ALERT = HexFormat.of().parseHex("15030300020228");

    /** What an upstream does, by the first cell of its row. */
    enum Fault {
        CLOSED_PORT("its port is closed", "http"), NO_NAME("its name is unknown", "http"), NO_TLS(
                "it speaks no TLS", "https"), ENDED("its certificate has ended", "https"), OTHER_HOST(
                        "its certificate is for others",
                        "https"), NOBODY("nobody vouches for it", "https"), HANGS_UP_EARLY(
                                "it hangs up in the handshake",
                                "https"), ALERT("it wants another TLS", "https"), HANGS_UP("it hangs up",
                                        "http"), BREAKS_OFF("it breaks off its body", "http"), NO_HTTP(
                                                "it does not speak HTTP",
                                                "http"), LARGE_HEAD("its head is too large",
                                                        "http"), OLD_HTTP("it speaks HTTP/1.1 only",
                                                                "h2c"), SILENT("it says nothing", "http");

        final String cell;
        final String scheme;

        Fault(String cell, String scheme) {
            this.cell = cell;
            this.scheme = scheme;
        }
    }

    private record Row(String cause, String detail, String error) {}

    private final EventLoops loops = EventLoops.create(1);
    private final RawUpstream upstream = new RawUpstream();
    private final ListAppender<ILoggingEvent> log = new ListAppender<>();
    private final Telemetry telemetry = new Telemetry();
    private @Nullable SingleUpstream relay;

    @AfterEach
    void nothingIsLeft() {
        LOG.detachAppender(log);
        SingleUpstream opened = relay;
        if (opened != null) {
            opened.close();
            Leaks.assertNone(opened::bufferedBytes, opened::openConnections);
        }
        upstream.close();
        loops.dispose();
        telemetry.close();
    }

    @ParameterizedTest
    @EnumSource(Fault.class)
    void theCallerTheLogAndTheMetricSayWhatThePageSays(Fault fault) throws Exception {
        Row row = row(fault);
        log.start();
        LOG.addAppender(log);
        SingleUpstream opened = relay(fault);
        relay = opened;
        if (fault == Fault.CLOSED_PORT) {
            upstream.close();
        } else if (fault != Fault.NO_NAME) {
            Thread.startVirtualThread(() -> act(fault));
        }

        Problem problem = new Asker(opened, loops.group().next()).get("/").awaitProblem();

        assertThat(problem.hop()).isEqualTo(Hop.UPSTREAM);
        assertThat(problem.cause().word()).isEqualTo(row.cause);
        assertThat(problem.detail()).isEqualTo(row.detail);
        assertThat(ProxyStatus.of(ProxyStatus.EDGE, problem).value()).contains("error=" + row.error + ";");
        await().untilAsserted(() -> assertThat(log.list).hasSize(1));
        Map<String, Object> line = log.list.getFirst()
                .getKeyValuePairs()
                .stream()
                .collect(Collectors.toMap(pair -> pair.key, pair -> pair.value));
        assertThat(line).containsEntry("route", "/")
                .containsEntry("upstream", host(fault) + ":" + upstream.port())
                .containsEntry("cause", row.cause)
                .containsEntry("detail", row.detail)
                .containsEntry("requests", 1L);
        assertThat(telemetry.scrape().lines().filter(each -> each.startsWith("culvert_upstream_requests")))
                .contains("culvert_upstream_requests_total{outcome=\"" + row.cause + "\",route=\"/\"} 1.0");
    }

    private SingleUpstream relay(Fault fault) {
        URI to = URI.create(fault.scheme + "://" + host(fault) + ":" + upstream.port());
        UpstreamTls tls = UpstreamTls.trusting(ServerTrust.inAuthorities(
                List.of(AUTHORITY.certificate(), ENDED.certificate())), UpstreamTlsIT.LINK);
        SingleUpstream made = SingleUpstream.create(UpstreamTemplate.of(to),
                Loopback.limits(Duration.ofMillis(fault == Fault.SILENT ? 200 : 20_000), Loopback.LONG)
                        .heads(128 << 10, 256),
                tls, UpstreamTlsIT.LINK);
        made.shown(telemetry);
        return made;
    }

    private static String host(Fault fault) {
        return switch (fault) {
            case NO_NAME -> "does-not-exist.invalid";
            case OTHER_HOST -> "localhost";
            default -> "127.0.0.1";
        };
    }

    private void act(Fault fault) {
        try (Socket socket = upstream.acceptSocket(); Peer peer = new Peer(socket)) {
            switch (fault) {
                case ENDED -> shake(socket, ENDED);
                case OTHER_HOST -> shake(socket, AUTHORITY);
                case NOBODY -> shake(socket, UNKNOWN);
                case ALERT -> socket.getOutputStream().write(ALERT);
                case NO_TLS, OLD_HTTP -> peer.write(head("HTTP/1.1 400 Bad Request"));
                case NO_HTTP -> peer.write("220 mail.example ESMTP\r\n");
                case BREAKS_OFF -> {
                    peer.readHead();
                    peer.write(head("HTTP/1.1 200 OK", "content-length: 9") + "part");
                    return;
                }
                case LARGE_HEAD -> {
                    peer.readHead();
                    peer.write("HTTP/1.1 200 OK\r\nx: " + "y".repeat(200 << 10));
                }
                default -> {
                    if (fault != Fault.SILENT) {
                        return;
                    }
                }
            }
            while (peer.read() >= 0) {
                // until the router closes
            }
        } catch (IOException | UncheckedIOException e) {
            // the router's alert or reset
        }
    }

    private static void shake(Socket socket, CertificateAuthority authority) throws IOException {
        TlsMaterial material = authority.issueServer(List.of(), List.of(InetAddress.getLoopbackAddress()),
                Duration.ofHours(1));
        UpstreamTlsIT.secured(socket, material).getInputStream().read();
    }

    private static Row row(Fault fault) throws IOException {
        return Files.readAllLines(PAGE)
                .stream()
                .map(line -> line.split(" *\\| *"))
                .filter(cells -> cells.length == 5 && cells[1].equals(fault.cell))
                .map(cells -> new Row(cells[2].replace("`", ""), cells[3], cells[4].replace("`", "")))
                .findFirst()
                .orElseThrow();
    }
}
