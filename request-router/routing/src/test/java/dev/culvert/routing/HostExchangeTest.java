package dev.culvert.routing;

import static org.assertj.core.api.Assertions.assertThat;

import dev.culvert.relay.upstream.UpstreamAddress;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.Http2Headers;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class HostExchangeTest {
    private static final String PUBLIC = "acme-web.tunnels.example:8443";
    private static final HostExchange LOCAL = HostExchange
            .of(new UpstreamAddress(false, false, "localhost", 5173), "rewrite");

    private static Http2Headers request(String... fields) {
        Http2Headers head = new DefaultHttp2Headers().authority(PUBLIC)
                .set("x-forwarded-proto", "https")
                .set("x-forwarded-host", PUBLIC);
        for (int i = 0; i < fields.length; i += 2) {
            head.add(fields[i], fields[i + 1]);
        }
        return head;
    }

    private static Http2Headers answered(HostExchange hosts, String... fields) {
        UrlOrigin outer = Objects.requireNonNull(hosts.request(request()));
        Http2Headers head = new DefaultHttp2Headers().status("302");
        for (int i = 0; i < fields.length; i += 2) {
            head.add(fields[i], fields[i + 1]);
        }
        hosts.response(head, outer);
        return head;
    }

    @ParameterizedTest
    @CsvSource({"https://acme-web.tunnels.example:8443,http://localhost:5173",
            "HTTPS://ACME-WEB.tunnels.example:8443,http://localhost:5173", "null,null",
            "https://acme-web.tunnels.example,https://acme-web.tunnels.example",
            "http://acme-web.tunnels.example:8443,http://acme-web.tunnels.example:8443",
            "https://acme-web.tunnels.example:8443.evil,https://acme-web.tunnels.example:8443.evil",
            "https://u@acme-web.tunnels.example:8443,https://u@acme-web.tunnels.example:8443",
            "https://evil.example/https://acme-web.tunnels.example:8443,https://evil.example/https://acme-web.tunnels.example:8443"})
    void theCallersOriginBecomesTheUpstreams(String given, String seen) {
        Http2Headers request = request("origin", given, "referer", given + "/a/b?c=d");

        LOCAL.request(request);

        assertThat(request.get("origin")).hasToString(seen);
        assertThat(request.get("referer")).hasToString(seen + "/a/b?c=d");
        assertThat(LOCAL.hostHeader()).isEqualTo("localhost:5173");
    }

    @Test
    void severalOriginsStayAsTheyAre() {
        Http2Headers request = request("origin", "https://" + PUBLIC, "origin", "https://" + PUBLIC);

        LOCAL.request(request);

        assertThat(request.getAll("origin")).hasSize(2).allMatch(each -> each.toString().contains("acme"));
    }

    @ParameterizedTest
    @CsvSource({"http://localhost:5173/login?next=/,https://acme-web.tunnels.example:8443/login?next=/",
            "http://127.0.0.1:5173,https://acme-web.tunnels.example:8443",
            "http://[::1]:5173/x,https://acme-web.tunnels.example:8443/x",
            "//localhost:5173/x,//acme-web.tunnels.example:8443/x", "/login,/login", "login,login",
            "http://localhost:5174/x,http://localhost:5174/x",
            "https://localhost:5173/,https://localhost:5173/",
            "http://localhost:5173.evil/,http://localhost:5173.evil/",
            "http://localhost:5173@evil/,http://localhost:5173@evil/", "http://other/x,http://other/x"})
    void redirectsToTheUpstreamLeadToThePublicHost(String given, String seen) {
        Http2Headers head = answered(LOCAL, "location", given, "content-location", given,
                "access-control-allow-origin", given);

        assertThat(head.get("location")).hasToString(seen);
        assertThat(head.get("content-location")).hasToString(seen);
        assertThat(head.get("access-control-allow-origin")).hasToString(seen);
    }

    @Test
    void cookiesOfTheUpstreamsDomainLoseIt() {
        HostExchange hosts = HostExchange.of(new UpstreamAddress(true, false, "10.0.0.7", 443),
                "app.internal.example");

        Http2Headers head = answered(hosts, "set-cookie", "a=1; Domain=app.internal.example; Path=/",
                "set-cookie", "b=2; domain=.internal.example", "set-cookie", "c=domain; Path=/; Domain=other",
                "set-cookie", "domain=app.internal.example", "set-cookie", "d=4; Domain=example");

        assertThat(head.getAll("set-cookie")).map(Object::toString)
                .containsExactly("a=1; Path=/", "b=2", "c=domain; Path=/; Domain=other",
                        "domain=app.internal.example", "d=4; Domain=example");
        assertThat(answered(hosts, "location", "https://app.internal.example/x").get("location"))
                .hasToString("https://" + PUBLIC + "/x");
    }
}
