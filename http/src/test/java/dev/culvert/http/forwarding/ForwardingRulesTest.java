package dev.culvert.http.forwarding;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.culvert.config.IpText;
import dev.culvert.http.net.Cidr;
import dev.culvert.http.problem.Problem;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.Http2Headers;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ForwardingRulesTest {
    private static final String TRACE = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

    private final ForwardingRules rules = new ForwardingRules("gw-1",
            List.of(Cidr.parse("10.0.0.0/8"), Cidr.parse("fd00::/8")));

    @Test
    void tellsTheUpstreamWhereTheRequestCameFrom() {
        Http2Headers fields = head();

        forward(fields, "192.0.2.7");

        assertThat(text(fields, "x-forwarded-for")).isEqualTo("192.0.2.7");
        assertThat(text(fields, "x-forwarded-proto")).isEqualTo("https");
        assertThat(text(fields, "x-forwarded-host")).isEqualTo("a.example:8443");
        assertThat(text(fields, "x-forwarded-port")).isEqualTo("8443");
        assertThat(text(fields, "forwarded")).isEqualTo("for=192.0.2.7;host=\"a.example:8443\";proto=https");
        assertThat(text(fields, "via")).isEqualTo("1.1 gw-1");
    }

    /** The peer is 10.0.0.1, a trusted proxy, but for the first row. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {"192.0.2.7 | 1.1.1.1 | 192.0.2.7", "10.0.0.1 | | 10.0.0.1",
            "10.0.0.1 | 1.1.1.1 | 1.1.1.1", "10.0.0.1 | 6.6.6.6, 1.1.1.1 | 1.1.1.1",
            "10.0.0.1 | 6.6.6.6, 1.1.1.1, 10.9.9.9 | 1.1.1.1", "10.0.0.1 | 10.0.0.3, 10.0.0.2 | 10.0.0.3",
            "10.0.0.1 | 1.1.1.1, nonsense | 10.0.0.1", "10.0.0.1 | 1.1.1.1, x, 10.0.0.2 | 10.0.0.2",
            "10.0.0.1 | 2001:db8::1 | 2001:db8::1", "10.0.0.1 | , | 10.0.0.1"})
    void theCallerIsTheLastWhoIsNoTrustedProxy(String peer, @Nullable String forwardedFor, String caller) {
        var from = rules.peer(new InetSocketAddress(peer, 1), "https", 8443, "1.1");

        List<String> hops = forwardedFor == null ? List.of() : List.of(forwardedFor);
        assertThat(rules.caller(from, hops)).isEqualTo(caller);
        assertThat(rules.source(InetAddress.ofLiteral(peer), hops)).isEqualTo(InetAddress.ofLiteral(caller));
    }

    @Test
    void aPeerIsInTheNetworksOfItsConnectionsAddress() {
        var from = rules.peer(new InetSocketAddress("10.0.0.1", 1), "https", 8443, "1.1");
        var unknown = rules.peer(InetSocketAddress.createUnresolved("10.0.0.1", 1), "https", 8443, "1.1");

        assertThat(from.isIn(List.of(Cidr.parse("::/0"), Cidr.parse("10.0.0.0/31")))).isTrue();
        assertThat(from.isIn(List.of(Cidr.parse("::/0"), Cidr.parse("10.0.0.2")))).isFalse();
        assertThat(from.isIn(List.of())).isFalse();
        assertThat(unknown.isIn(List.of(Cidr.parse("0.0.0.0/0")))).isFalse();
    }

    @Test
    void severalFieldsAreOneChain() {
        var from = rules.peer(new InetSocketAddress("10.0.0.1", 1), "https", 8443, "1.1");

        assertThat(rules.caller(from, List.of("6.6.6.6", "1.1.1.1", "10.0.0.2"))).isEqualTo("1.1.1.1");
    }

    @Test
    void aCallersAddressIsThatOfTheConnectionWhateverAStrangerSays() {
        assertThat(caller("192.0.2.7", "10.0.0.1")).isEqualTo("192.0.2.7");
    }

    @Test
    void behindTrustedProxiesACallersAddressIsTheLastThatIsNone() {
        assertThat(caller("10.0.0.1", "203.0.113.9, 192.0.2.7, 10.0.0.2")).isEqualTo("192.0.2.7");
        assertThat(caller("10.0.0.1", "192.0.2.7:4711")).isEqualTo("192.0.2.7");
        assertThat(caller("10.0.0.1", "[2001:db8::1]:4711")).isEqualTo("2001:db8::1");
        assertThat(caller("10.0.0.1", "2001:db8::1")).isEqualTo("2001:db8::1");
        assertThat(caller("10.0.0.1", "::ffff:192.0.2.7")).isEqualTo("192.0.2.7");
        assertThat(caller("10.0.0.1", "10.0.0.3, 10.0.0.2")).isEqualTo("10.0.0.3");
    }

    @Test
    void whatIsNoAddressHidesTheCaller() {
        assertThat(caller("10.0.0.1", "192.0.2.7, unknown")).isNull();
        assertThat(caller("10.0.0.1", "192.0.2.7,")).isNull();
        assertThat(caller("10.0.0.1", "localhost")).isNull();
    }

    private @Nullable String caller(String remote, String said) {
        Http2Headers fields = head().add("x-forwarded-for", said);
        var peer = rules.peer(new InetSocketAddress(remote, 4711), "https", 8443, "1.1");
        rules.request(fields, peer, "a.example", false);
        InetAddress address = rules.caller(fields, peer);
        return address == null ? null : IpText.of(address);
    }

    @Test
    void quotesIpv6AddressesInForwarded() {
        Http2Headers fields = head();

        forward(fields, "2001:db8::1");

        assertThat(text(fields, "x-forwarded-for")).isEqualTo("2001:db8::1");
        assertThat(text(fields, "forwarded")).startsWith("for=\"[2001:db8::1]\";");
    }

    @Test
    void dropsWhatAStrangerSaysAboutItsOrigin() {
        Http2Headers fields = head().add("x-forwarded-for", "1.1.1.1")
                .add("x-forwarded-for", "2.2.2.2")
                .add("x-forwarded-proto", "ftp")
                .add("x-forwarded-host", "evil")
                .add("x-forwarded-port", "1")
                .add("forwarded", "for=1.1.1.1");

        forward(fields, "192.0.2.7");

        assertThat(fields.getAll("x-forwarded-for")).hasToString("[192.0.2.7]");
        assertThat(text(fields, "x-forwarded-proto")).isEqualTo("https");
        assertThat(text(fields, "x-forwarded-host")).isEqualTo("a.example:8443");
        assertThat(text(fields, "x-forwarded-port")).isEqualTo("8443");
        assertThat(text(fields, "forwarded")).startsWith("for=192.0.2.7;");
    }

    @Test
    void appendsToWhatATrustedProxySays() {
        Http2Headers fields = head().add("x-forwarded-for", "1.1.1.1")
                .add("x-forwarded-for", "2.2.2.2")
                .add("x-forwarded-proto", "http")
                .add("x-forwarded-host", "public.example")
                .add("x-forwarded-port", "80")
                .add("forwarded", "for=1.1.1.1");

        forward(fields, "10.1.2.3");

        assertThat(text(fields, "x-forwarded-for")).isEqualTo("1.1.1.1, 2.2.2.2, 10.1.2.3");
        assertThat(text(fields, "x-forwarded-proto")).isEqualTo("http");
        assertThat(text(fields, "x-forwarded-host")).isEqualTo("public.example");
        assertThat(text(fields, "x-forwarded-port")).isEqualTo("80");
        assertThat(text(fields, "forwarded")).startsWith("for=1.1.1.1, for=10.1.2.3;");
    }

    @Test
    void removesHopByHopFieldsAndThoseThatConnectionLists() {
        Http2Headers fields = head().add("connection", "close, X-Secret")
                .add("connection", "keep-alive")
                .add("x-secret", "1")
                .add("keep-alive", "timeout=5")
                .add("proxy-connection", "close")
                .add("transfer-encoding", "chunked")
                .add("upgrade", "h2c")
                .add("http2-settings", "AAA")
                .add("proxy-authorization", "Basic x")
                .add("accept", "*/*");

        forward(fields, "192.0.2.7");

        assertThat(fields.names().stream().map(CharSequence::toString)).doesNotContain("connection",
                "x-secret",
                "keep-alive", "proxy-connection", "transfer-encoding", "upgrade", "http2-settings",
                "proxy-authorization");
        assertThat(text(fields, "accept")).isEqualTo("*/*");
    }

    @Test
    void connectionCannotRemoveFramingOrPseudoFields() {
        Http2Headers fields = head().add("connection", "content-length, :path, , x-forwarded-for")
                .add("content-length", "5");

        forward(fields, "192.0.2.7");

        assertThat(text(fields, "content-length")).isEqualTo("5");
        assertThat(text(fields, ":path")).isEqualTo("/");
        assertThat(text(fields, "x-forwarded-for")).isEqualTo("192.0.2.7");
    }

    @ParameterizedTest
    @CsvSource({"trailers,trailers", "'gzip, Trailers;q=1',", "'gzip , TRAILERS',trailers", "gzip,"})
    void keepsOnlyTrailersOfTe(String received, @Nullable String kept) {
        Http2Headers fields = head().add("connection", "TE").add("te", received);

        forward(fields, "192.0.2.7");

        assertThat(text(fields, "te")).isEqualTo(kept);
    }

    @Test
    void keepsTheUpgradeOfAForwardedUpgrade() {
        Http2Headers fields = head().add("connection", "Upgrade").add("upgrade", "websocket");

        rules.request(fields, peer("192.0.2.7"), "a.example", true);

        assertThat(text(fields, "upgrade")).isEqualTo("websocket");
        assertThat(fields.contains("connection")).isFalse();
    }

    @Test
    void aResponseLosesItsHopByHopFieldsOnly() {
        Http2Headers fields = new DefaultHttp2Headers().status("200")
                .add("connection", "close, x-a")
                .add("x-a", "1")
                .add("via", "1.1 upstream")
                .add("trailer", "x-checksum");

        ForwardingRules.response(fields, false);

        assertThat(fields.names().stream().map(CharSequence::toString)).containsExactlyInAnyOrder(":status",
                "via",
                "trailer");
    }

    @ParameterizedTest
    @ValueSource(strings = {"1.1 gw-1", "1.0 fred, 1.1 gw-1 (culvert)", "HTTP/1.1\tgw-1"})
    void aRequestThatWasHereIsALoop(String via) {
        Problem problem = rules.request(head().add("via", "1.1 other").add("via", via), peer("192.0.2.7"),
                "a",
                false);

        assertThat(problem).isNotNull().extracting(Problem::cause).isEqualTo(Problem.Cause.LOOP_DETECTED);
    }

    @ParameterizedTest
    @ValueSource(strings = {"1.1 gw-10", "1.1 other (gw-1)", "gw-1", "", ",,"})
    void otherGatewaysAreNoLoop(String via) {
        Http2Headers fields = head().add("via", via);

        assertThat(rules.request(fields, peer("192.0.2.7"), "a", false)).isNull();
        assertThat(fields.getAll("via")).hasToString("[" + via + ", 1.1 gw-1]");
    }

    @ParameterizedTest
    @ValueSource(strings = {"a", "018f-xyz:42/7", "~"})
    void keepsAValidRequestId(String id) {
        assertThat(ForwardingRules.requestId(head().add("x-request-id", id))).hasToString(id);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "a b", "caf\u00e9", "a\u0007", "a\tb"})
    void replacesAnInvalidRequestId(String id) {
        assertThat(ForwardingRules.requestId(head().add("x-request-id", id)).toString())
                .matches("[0-9a-f]{32}");
    }

    @Test
    void replacesRequestIdsThatAreTooLongOrRepeated() {
        assertThat(ForwardingRules.requestId(head().add("x-request-id", "x".repeat(128)))).hasSize(128);
        assertThat(ForwardingRules.requestId(head().add("x-request-id", "x".repeat(129)))).hasSize(32);
        Http2Headers twice = head().add("x-request-id", "a").add("x-request-id", "b");
        assertThat(ForwardingRules.requestId(twice)).hasSize(32);
        assertThat(twice.getAll("x-request-id")).hasSize(1);
    }

    @Test
    void keepsAValidTraceparentWithItsState() {
        Http2Headers fields = head().add("traceparent", TRACE).add("tracestate", "a=b");

        forward(fields, "192.0.2.7");

        assertThat(text(fields, "traceparent")).isEqualTo(TRACE);
        assertThat(text(fields, "tracestate")).isEqualTo("a=b");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "00-x", "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
            "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-x",
            "01-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01x",
            "00-4bf92f3577b34da6a3ce929d0e0e4736_00f067aa0ba902b7-01"})
    void startsANewTraceForAnInvalidTraceparent(String value) {
        Http2Headers fields = head().add("traceparent", value).add("tracestate", "a=b");

        forward(fields, "192.0.2.7");

        assertThat(text(fields, "traceparent")).matches("00-[0-9a-f]{32}-[0-9a-f]{16}-00");
        assertThat(fields.contains("tracestate")).isFalse();
    }

    @Test
    void keepsTraceparentsOfLaterVersions() {
        String later = "01" + TRACE.substring(2) + "-more";
        Http2Headers fields = head().add("traceparent", later);

        forward(fields, "192.0.2.7");

        assertThat(text(fields, "traceparent")).isEqualTo(later);
    }

    @Test
    void refusesAPseudonymThatIsNoToken() {
        assertThatThrownBy(() -> new ForwardingRules("a b", List.of())).hasMessageContaining("a b");
        assertThat(ForwardingRules.newPseudonym()).matches("culvert-[0-9a-f]{12}");
    }

    private void forward(Http2Headers fields, String remote) {
        assertThat(rules.request(fields, peer(remote), "a.example:8443", false)).isNull();
    }

    private ForwardingRules.Peer peer(String remote) {
        return rules.peer(new InetSocketAddress(remote, 40000), "https", 8443, "1.1");
    }

    private static Http2Headers head() {
        return new DefaultHttp2Headers(false).method("GET")
                .scheme("https")
                .authority("a.example:8443")
                .path("/");
    }

    private static @Nullable String text(Http2Headers fields, String name) {
        CharSequence value = fields.get(name);
        return value == null ? null : value.toString();
    }
}
