package dev.culvert.server.link;

import static dev.culvert.relay.testing.Results.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.certs.CertificateAuthority;
import dev.culvert.certs.CertificateRequest;
import dev.culvert.certs.ClientIdentity;
import dev.culvert.certs.KeyPairs;
import dev.culvert.certs.TlsMaterial;
import dev.culvert.certs.tls.TlsContexts;
import dev.culvert.config.HostPort;
import dev.culvert.http.net.EventLoops;
import dev.culvert.http.observe.Telemetry;
import dev.culvert.relay.listen.Entrance;
import dev.culvert.relay.testing.EventLoopWatch;
import dev.culvert.relay.testing.MovableClock;
import dev.culvert.relay.testing.TlsCaller;
import dev.culvert.server.FakeTunnels;
import dev.culvert.server.enrol.CertificateIssuer;
import dev.culvert.server.enrol.EnrolmentService;
import dev.culvert.server.enrol.RenewalService;
import dev.culvert.server.runtime.EnrolmentTokens;
import dev.culvert.server.runtime.RegisteredRuntime;
import dev.culvert.server.runtime.RuntimeName;
import dev.culvert.server.runtime.RuntimeRegistrar;
import dev.culvert.server.runtime.RuntimeStore;
import dev.culvert.server.store.SqliteRuntimeStore;
import dev.culvert.server.store.StoreLimits;
import java.nio.file.Path;
import java.security.KeyPair;
import java.time.Duration;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.regex.Pattern;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Who becomes a tunnel, and what everybody else is told. */
class TunnelHandshakeIT {
    private static final RuntimeName PROD = new RuntimeName("acme", "prod");
    private static final Duration DAY = Duration.ofDays(1);
    private static final String KEY = "Sec-WebSocket-Key: AQIDBAUGBwgJCgsMDQ4PEA==";
    private static final String VERSION = "Sec-WebSocket-Version: 13";
    private static final String PROTOCOL = "Sec-WebSocket-Protocol: culvert.v1";
    private static final String CONNECTION = "Connection: Upgrade";
    private static final String UPGRADE = "Upgrade: websocket";

    static {
        EventLoopWatch.install();
    }

    @TempDir
    Path folder;
    private final MovableClock clock = new MovableClock();
    private final CertificateAuthority ca = CertificateAuthority.create("test", clock);
    private final EventLoops loops = EventLoops.create(1);
    private final SessionAdmission admission = new SessionAdmission(1, 1, 1, new SplittableRandom(1));
    private final Telemetry telemetry = new Telemetry();
    private final List<RegisteredRuntime> tunnels = new CopyOnWriteArrayList<>();
    /** Of clients that have yet to prove a certificate. */
    private final List<Duration> timesLeft = new CopyOnWriteArrayList<>();
    private RuntimeStore store;
    private RuntimeRegistrar registrar;
    private EnrolmentService enrolment;
    private TunnelListener listener;
    private RegisteredRuntime runtime;
    private @Nullable TlsCaller caller;

    @BeforeEach
    void open() {
        store = await(SqliteRuntimeStore.open(folder, "t.example", StoreLimits.defaults(), clock));
        enrolment = new EnrolmentService(store, new CertificateIssuer(ca, Duration.ofDays(1)), clock);
        registrar = new RuntimeRegistrar(store, new FakeTunnels(), new EnrolmentTokens(ca.certificate()),
                "t.example", clock, gone -> {});
        runtime = await(registrar.register(PROD, List.of())).runtime();
        var renewal = new RenewalService(store, new CertificateIssuer(ca, Duration.ofDays(1)), clock);
        var shared = new TunnelHandshake.Shared(store, enrolment, renewal, () -> List.of(ca.certificate()),
                false, host -> host.equals("acme.example"),
                admission, new LoopPlacement(loops.group(), (id, replaced) -> List.of()),
                (ctx, let, host, left) -> {
                    if (let == null) {
                        timesLeft.add(left);
                    } else {
                        tunnels.add(let.runtime());
                    }
                }, telemetry, clock);
        TlsMaterial own = ca.issueServer(List.of("t.example"), List.of(), DAY);
        listener = await(TunnelListener.start(HostPort.parse("127.0.0.1:0"),
                Entrance.Secure.with(TlsContexts.tunnel(own, List.of(ca.certificate()), List.of("http/1.1"))),
                shared, 100, loops));
    }

    @AfterEach
    void close() {
        if (caller != null) {
            caller.close();
        }
        listener.stop(Duration.ZERO).block();
        enrolment.close().block();
        store.close().block();
        loops.disposeLater(Duration.ZERO, Duration.ofSeconds(2)).block();
        telemetry.close();
    }

    private TlsMaterial identity(CertificateAuthority issuer, String runtimeId) {
        KeyPair keys = KeyPairs.generate();
        var certificate = issuer.issueClient(CertificateRequest.create(keys),
                new ClientIdentity("acme", "prod", runtimeId), DAY);
        return new TlsMaterial(List.of(certificate), keys.getPrivate());
    }

    private TlsCaller dial(@Nullable TlsMaterial identity) {
        TlsCaller dialled = new TlsCaller(listener.address().port(), identity);
        caller = dialled;
        return dialled;
    }

    private TlsCaller dial() {
        return dial(identity(ca, runtime.identity()));
    }

    /** Everything that a client is told that asks for a tunnel and does not get one. */
    private String refusal(@Nullable TlsMaterial identity) {
        return dial(identity).head("GET /tunnel/v1", CONNECTION, UPGRADE, KEY, VERSION, PROTOCOL).readAll();
    }

    private void assertRefused(String answer, int status, String cause) {
        assertThat(answer).startsWith("HTTP/1.1 " + status + " ")
                .contains("connection: close", "application/problem+json", "urn:culvert:problem:" + cause,
                        "\"hop\":\"tunnel\"")
                .endsWith("}");
        assertThat(tunnels).isEmpty();
    }

    @Test
    void aClientWithACertificateBecomesItsRuntimesTunnel() {
        String head = dial().head("GET /tunnel/v1", CONNECTION, UPGRADE, KEY, VERSION, PROTOCOL).readHead();

        assertThat(head).startsWith("HTTP/1.1 101 ")
                .containsIgnoringCase("sec-websocket-protocol: culvert.v1");
        assertThat(head).doesNotContainIgnoringCase("extensions");
        Awaitility.await().until(() -> !tunnels.isEmpty());
        assertThat(tunnels).containsExactly(runtime);
    }

    @Test
    void oneSessionTooManyThatIsBeingOpenedIsOverloadedAndToldWhenToComeBack() {
        try (TlsCaller first = new TlsCaller(listener.address().port(), identity(ca, runtime.identity()))) {
            first.head("GET /tunnel/v1", CONNECTION, UPGRADE, KEY, VERSION, PROTOCOL);
            assertThat(first.readHead()).startsWith("HTTP/1.1 101 ");
            Awaitility.await().until(() -> !tunnels.isEmpty());
            tunnels.clear();

            String answer = refusal(identity(ca, runtime.identity()));

            assertRefused(answer, 503, "overloaded");
            assertThat(answer).containsPattern("retry-after: ([1-9]|10)\r\n");
        }
        Awaitility.await().until(() -> admission.count() == 0);
        assertThat(dial().head("GET /tunnel/v1", CONNECTION, UPGRADE, KEY, VERSION, PROTOCOL).readHead())
                .startsWith("HTTP/1.1 101 ");
    }

    @Test
    void whoPromisesAProofHasWhatIsLeftOfFiveSecondsForIt() {
        dial(null).head("GET /tunnel/v1", CONNECTION, UPGRADE, KEY, VERSION, PROTOCOL,
                "Culvert-Proof: opening").readHead();

        Awaitility.await().until(() -> !timesLeft.isEmpty());
        assertThat(timesLeft).singleElement()
                .satisfies(left -> assertThat(left).isPositive().isLessThan(Duration.ofSeconds(5)));
    }

    /** Or it would open a session for whoever relays it. */
    @Test
    void aProofForAnotherServersNameIsRefused() {
        String answer = dial(null).send(String.join("\r\n", "GET /tunnel/v1 HTTP/1.1", "Host: other.example",
                CONNECTION, UPGRADE, KEY, VERSION, PROTOCOL, "Culvert-Proof: opening", "", "")).readAll();

        assertRefused(answer, 401, "unauthorized");
        assertThat(answer).contains("tunnel.hosts");
        assertThat(timesLeft).isEmpty();
    }

    @Test
    void culvertsSubprotocolIsPickedOfSeveral() {
        String head = dial().head("GET /tunnel/v1", CONNECTION, UPGRADE, KEY, VERSION,
                "Sec-WebSocket-Protocol: mqtt, culvert.v1").readHead();

        assertThat(head).startsWith("HTTP/1.1 101 ")
                .containsIgnoringCase("sec-websocket-protocol: culvert.v1");
    }

    @Test
    void noExtensionIsNegotiated() {
        String head = dial().head("GET /tunnel/v1", CONNECTION, UPGRADE, KEY, VERSION, PROTOCOL,
                "Sec-WebSocket-Extensions: permessage-deflate").readHead();

        assertThat(head).startsWith("HTTP/1.1 101 ").doesNotContainIgnoringCase("extensions");
    }

    @Test
    void aClientWithoutACertificateIsToldToEnrol() {
        assertThat(refusal(null)).contains("no client certificate was shown; enrol first");
        assertRefused(refusal(null), 401, "unauthorized");
    }

    @Test
    void aCertificateOfAnotherAuthorityIsRefused() {
        CertificateAuthority foreign = CertificateAuthority.create("test", clock);

        assertRefused(refusal(identity(foreign, runtime.identity())), 401, "unauthorized");
    }

    @Test
    void aListenersCertificateIsNoClients() {
        assertRefused(refusal(ca.issueServer(List.of("t.example"), List.of(), DAY)), 401, "unauthorized");
    }

    @Test
    void anExpiredCertificateIsToldSinceWhen() {
        TlsMaterial expired = identity(ca, runtime.identity());
        clock.advance(DAY.plusSeconds(1));

        String answer = refusal(expired);

        assertRefused(answer, 401, "unauthorized");
        assertThat(answer).contains("the client certificate ended at 2026-01-03T03:04:05Z");
    }

    @Test
    void aRevokedCertificateIsToldSo() {
        TlsMaterial old = identity(ca, runtime.identity());
        await(registrar.revoke(PROD));

        String answer = refusal(old);

        assertRefused(answer, 401, "unauthorized");
        assertThat(answer).contains("this certificate of acme/prod was revoked")
                .contains("enrol with a new token");
    }

    @Test
    void theCertificateOfADeletedRuntimeStaysDeadWhenTheNameIsUsedAgain() {
        TlsMaterial old = identity(ca, runtime.identity());
        await(registrar.delete(PROD));
        assertThat(refusal(old)).contains("the runtime acme/prod of this certificate was deleted");
        await(registrar.register(PROD, List.of()));

        String answer = refusal(old);

        assertRefused(answer, 401, "unauthorized");
        assertThat(answer).contains("was revoked, or is that of a deleted runtime of the same name");
    }

    @ParameterizedTest
    @ValueSource(strings = {"culvert.v2", "mqtt", "CULVERT.V1", "culvert.v1x"})
    void anotherSubprotocolIs400(String protocol) {
        assertRefused(dial().head("GET /tunnel/v1", CONNECTION, UPGRADE, KEY, VERSION,
                "Sec-WebSocket-Protocol: " + protocol).readAll(), 400, "bad-request");
    }

    @Test
    void noSubprotocolIs400() {
        assertRefused(dial().head("GET /tunnel/v1", CONNECTION, UPGRADE, KEY, VERSION).readAll(), 400,
                "bad-request");
    }

    @ParameterizedTest
    @ValueSource(strings = {"GET", "POST", "HEAD"})
    void aPlainRequestIs426(String method) {
        String answer = dial().head(method + " /tunnel/v1").readAll();

        assertThat(answer).startsWith("HTTP/1.1 426 ")
                .contains("upgrade: websocket", "connection: close, upgrade");
        assertThat(tunnels).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"h2c", "websocket, h2c"})
    void anotherUpgradeIs426(String protocol) {
        assertRefused(dial().head("GET /tunnel/v1", CONNECTION, "Upgrade: " + protocol).readAll(), 426,
                "upgrade-required");
    }

    @Test
    void anotherWebSocketVersionIsToldTheRightOne() {
        String answer = dial().head("GET /tunnel/v1", CONNECTION, UPGRADE, KEY, PROTOCOL,
                "Sec-WebSocket-Version: 12").readAll();

        assertRefused(answer, 426, "upgrade-required");
        assertThat(answer).containsIgnoringCase("sec-websocket-version: 13");
    }

    @Test
    void aHandshakeWithoutAKeyIs400() {
        assertRefused(dial().head("GET /tunnel/v1", CONNECTION, UPGRADE, VERSION, PROTOCOL).readAll(), 400,
                "bad-request");
    }

    @ParameterizedTest
    @ValueSource(strings = {"/", "/tunnel", "/tunnel/v2", "/tunnel/v1/", "/tunnel/v1?x", "/healthz"})
    void anotherPathIs404(String path) {
        assertRefused(dial().head("GET " + path, CONNECTION, UPGRADE, KEY, VERSION, PROTOCOL).readAll(), 404,
                "not-found");
    }

    @Test
    void enrolmentIsAPost() {
        String answer = dial(null).head("GET /tunnel/v1/enrol").readAll();

        assertRefused(answer, 405, "method-not-allowed");
        assertThat(answer).contains("allow: POST");
    }

    @Test
    void anEnrolmentThatIsTooLargeIs413() {
        int bytes = EnrolmentService.MAX_BODY_BYTES + 1;

        String answer = dial(null).head("POST /tunnel/v1/enrol", "Content-Length: " + bytes).readHead();

        assertThat(answer).startsWith("HTTP/1.1 413 ").contains("content-type: application/problem+json");
    }

    @Test
    void anEnrolmentIsAnsweredOnAConnectionThatStays() {
        TlsCaller client = dial(null);
        for (int i = 0; i < 2; i++) {
            client.head("POST /tunnel/v1/enrol", "Content-Length: 2").send("{}");

            assertThat(client.readUntil("}")).startsWith("HTTP/1.1 400 ")
                    .contains("urn:culvert:problem:bad-request");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"/tunnel/v1#", "http://other.example/tunnel/v1",
            "http://user@acme.example/tunnel/v1",
            "tunnel/v1", "*"})
    void aTargetThatReadsInTwoWaysIs400(String target) {
        assertRefused(dial().head("GET " + target, CONNECTION, UPGRADE, KEY, VERSION, PROTOCOL).readAll(),
                400,
                "bad-request");
    }

    @ParameterizedTest
    @ValueSource(strings = {"GET /x HTTP/1.1\r\nHost: a\r\n\r\n", "nonsense\r\n\r\n",
            "GET /tunnel/v1/enrol HTTP/1.1\r\nHost: a\r\n\r\n"})
    void nothingBehindARefusalIsServed(String refused) {
        String answer = dial(null).send(refused + "POST /tunnel/v1/enrol HTTP/1.1\r\nHost: a\r\n"
                + "Content-Length: 2\r\n\r\n{}GET /y HTTP/1.1\r\nHost: a\r\n\r\n").readAll();

        assertThat(answer.split("HTTP/1.1 ", -1)).hasSize(2);
        assertThat(Pattern.compile("(?m)^culvert_problems_total\\{.*\\} 1(\\.0)?$")
                .matcher(telemetry.scrape())
                .results()).hasSize(1);
    }

    @Test
    void whatIsNotHttpIs400() {
        assertRefused(dial().send("nonsense\r\n\r\n").readAll(), 400, "bad-request");
    }

    @Test
    void aRefusalCarriesTheClientsRequestId() {
        assertThat(dial().head("GET /x", "X-Request-Id: id-7").readAll()).contains("\"requestId\":\"id-7\"");
    }
}
