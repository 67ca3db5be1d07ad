package dev.culvert.http.forwarding;

import static org.assertj.core.api.Assertions.assertThat;

import com.code_intelligence.jazzer.junit.FuzzTest;
import dev.culvert.http.fields.RequestId;
import dev.culvert.http.net.Cidr;
import dev.culvert.http.problem.Problem;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.Http2Headers;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Whatever a caller says about where it comes from: an upstream reads the truth, and from one place. */
class ForwardingRulesFuzzTest {
    private static final InetSocketAddress PEER = new InetSocketAddress("192.0.2.7", 4711);
    private static final String PSEUDONYM = "culvert-test";
    private static final ForwardingRules STRANGERS = new ForwardingRules(PSEUDONYM, List.of());
    private static final ForwardingRules PROXIES = new ForwardingRules(PSEUDONYM,
            List.of(Cidr.parse("192.0.2.0/24")));
    private static final String OWN = "for=192.0.2.7;host=\"acme.example\";proto=https";
    private static final Pattern LINE = Pattern.compile("([a-z0-9-]{1,40}): ?([\\t -~\\x80-\\xff]*)");
    private static final Pattern TOKENS = Pattern.compile("[!#$%&'*+.^_`|~0-9A-Za-z-]+");
    private static final List<String> ORIGIN = List.of("forwarded", "x-forwarded-for", "x-forwarded-proto",
            "x-forwarded-host", "x-forwarded-port");

    /** Lines are fields, in ISO 8859-1. */
    @FuzzTest(maxDuration = "10m")
    void anUpstreamReadsTheTruth(byte[] bytes) {
        check(new String(bytes, StandardCharsets.ISO_8859_1));
    }

    static List<String> heads() {
        return List.of("", "x-forwarded-for: 1.2.3.4",
                "x-forwarded-for: 1.2.3.4\nx-forwarded-for: 5.6.7.8, 9.9.9.9",
                "forwarded: for=1.2.3.4;proto=http, for=\"[2001:db8::1]:80\"", "forwarded: for=\"",
                "forwarded: for=\"\\",
                "forwarded: ,,;;==", "forwarded: for=_a\nforwarded: by=\"x, for=1.1.1.1",
                "x-forwarded-for: \"",
                "x-forwarded-proto: http\nx-forwarded-proto: https",
                "x-forwarded-host: evil.example\nx-forwarded-port: 1",
                "via: 1.1 culvert-test", "via: 1.1 a, 2.0 culvert-test (x)", "via: culvert-test", "via: ,",
                "connection: x-forwarded-for, forwarded, via\nx-forwarded-for: 1.1.1.1",
                "connection: ,,close,\u00a0",
                "x-request-id: a\nx-request-id: b", "x-request-id: \u00e9", "x-request-id: a b",
                "traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01\ntracestate: a=b",
                "traceparent: 00-0\ntracestate: a=b", "te: trailers, gzip;q=0.5\nte: x",
                "upgrade: h2c, websocket\nkeep-alive: 5");
    }

    @ParameterizedTest
    @MethodSource("heads")
    void headsOfEveryKind(String lines) {
        check(lines);
    }

    private static void check(String lines) {
        Http2Headers given = fields(lines);
        stranger(given);
        proxy(given);
    }

    private static Http2Headers fields(String lines) {
        Http2Headers fields = new DefaultHttp2Headers(false).method("GET").path("/");
        lines.lines().limit(100).forEach(line -> {
            var matcher = LINE.matcher(line);
            if (matcher.matches()) {
                fields.add(matcher.group(1), matcher.group(2).strip());
            }
        });
        return fields;
    }

    private static @Nullable Http2Headers forward(ForwardingRules rules, Http2Headers given) {
        Http2Headers fields = new DefaultHttp2Headers(false).setAll(given);
        Problem loop = rules.request(fields, rules.peer(PEER, "https", 443, "1.1"), "acme.example", false);
        if (loop != null) {
            assertThat(given.contains("via")).isTrue();
            assertThat(String.join(",", given.getAll("via"))).contains(PSEUDONYM);
            assertThat(fields).isEqualTo(given);
            return null;
        }
        for (String name : List.of("connection", "keep-alive", "upgrade", "transfer-encoding",
                "proxy-connection")) {
            assertThat(fields.contains(name)).as(name).isFalse();
        }
        assertThat(fields.getAll("via").getLast()).hasToString("1.1 " + PSEUDONYM);
        assertThat(fields.getAll("x-request-id")).hasSize(1).allMatch(RequestId::valid);
        assertThat(fields.getAll("traceparent")).hasSize(1).allMatch(RequestId::validTraceparent);
        others(given, fields);
        return fields;
    }

    /** What no rule is about passes in its order. */
    private static void others(Http2Headers given, Http2Headers forwarded) {
        var listed = String.join(",", given.getAll("connection")).toLowerCase(Locale.ROOT);
        for (CharSequence name : given.names()) {
            String text = name.toString();
            if (text.startsWith("a") && !listed.contains(text)) {
                assertThat(forwarded.getAll(name)).isEqualTo(given.getAll(name));
            }
        }
    }

    private static void stranger(Http2Headers given) {
        Http2Headers fields = forward(STRANGERS, given);
        if (fields != null) {
            assertThat(ORIGIN.stream().map(name -> name + ": " + fields.getAll(name))).containsExactly(
                    "forwarded: [" + OWN + "]", "x-forwarded-for: [192.0.2.7]", "x-forwarded-proto: [https]",
                    "x-forwarded-host: [acme.example]", "x-forwarded-port: [443]");
        }
    }

    private static void proxy(Http2Headers given) {
        Http2Headers fields = forward(PROXIES, given);
        if (fields == null) {
            return;
        }
        assertThat(fields.getAll("x-forwarded-for")).hasSize(1);
        String[] chain = fields.get("x-forwarded-for").toString().split(", ", -1);
        assertThat(chain[chain.length - 1]).isEqualTo("192.0.2.7");
        assertThat(fields.getAll("forwarded")).hasSize(1);
        List<Map<String, String>> elements = elements(fields.get("forwarded").toString());
        assertThat(elements).isNotEmpty();
        assertThat(elements.getLast()).containsEntry("for", "192.0.2.7").containsEntry("proto", "https");
    }

    /** The elements of RFC 7239 §4, read to the letter; empty ones are skipped (RFC 9110 §5.6.1). */
    private static List<Map<String, String>> elements(String value) {
        List<Map<String, String>> elements = new ArrayList<>();
        int at = 0;
        while (at <= value.length()) {
            Map<String, String> pairs = new java.util.HashMap<>();
            int end = element(value, at, pairs);
            if (!pairs.isEmpty()) {
                elements.add(pairs);
            }
            at = end + 1;
        }
        return elements;
    }

    /** Reads to the comma behind an element, or to the end. */
    private static int element(String value, int start, Map<String, String> pairs) {
        int at = start;
        while (at < value.length() && value.charAt(at) != ',') {
            char c = value.charAt(at);
            if (c == ' ' || c == '\t' || c == ';') {
                at++;
                continue;
            }
            int equals = value.indexOf('=', at);
            assertThat(equals).as(value).isPositive();
            String name = value.substring(at, equals);
            assertThat(name).as(value).matches(TOKENS);
            var text = new StringBuilder();
            at = equals + 1;
            if (at < value.length() && value.charAt(at) == '"') {
                at = quoted(value, at + 1, text);
            } else {
                while (at < value.length() && ",; \t".indexOf(value.charAt(at)) < 0) {
                    text.append(value.charAt(at++));
                }
                assertThat(text.toString()).as(value).isNotEmpty().doesNotContain("\"", "\\");
            }
            pairs.put(name.toLowerCase(Locale.ROOT), text.toString());
        }
        return at;
    }

    private static int quoted(String value, int start, StringBuilder text) {
        int at = start;
        while (value.charAt(at) != '"') {
            at += value.charAt(at) == '\\' ? 1 : 0;
            text.append(value.charAt(at++));
        }
        return at + 1;
    }
}
