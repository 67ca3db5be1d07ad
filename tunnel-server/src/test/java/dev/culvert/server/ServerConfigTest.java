package dev.culvert.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.culvert.config.ByteSize;
import dev.culvert.config.ConfigBinder;
import dev.culvert.config.ConfigException;
import dev.culvert.config.HostPort;
import dev.culvert.relay.quota.CallerLimits;
import dev.culvert.relay.tls.PostQuantum;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ServerConfigTest {
    private static final HostPort ANY = HostPort.parse("127.0.0.1:0");
    private static final ServerConfig.Tls TLS = new ServerConfig.Tls(Path.of("edge.crt"),
            Path.of("edge.key"));
    private static final Map<String, String> NEEDED = Map.of("edge.domain", "a.example",
            "edge.tls.certificate", "e.crt", "edge.tls.key", "e.key", "tunnel.tls.certificate", "t.crt",
            "tunnel.tls.key", "t.key", "tunnel.ca.certificate", "ca.crt", "tunnel.ca.key", "ca.key");

    @Test
    void domainIsKeptInLowerCase() {
        assertThat(edge("Tunnels.Example.COM", List.of()).domain()).isEqualTo("tunnels.example.com");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", ".", "example.com.", "-a.example", "a_b.example", "a..b", "a:8443"})
    void domainThatIsNoDnsNameIsRefused(String domain) {
        assertThatThrownBy(() -> edge(domain, List.of())).isInstanceOf(ConfigException.class)
                .hasMessageStartingWith("domain");
    }

    @Test
    void domainThatLeavesNoRoomForARuntimeIsRefused() {
        String label = "a".repeat(62) + ".";

        assertThat(edge(label.repeat(3).substring(0, 188) + "b", List.of()).domain()).hasSize(189);
        assertThatThrownBy(() -> edge(label.repeat(3) + "bc", List.of())).isInstanceOf(ConfigException.class);
    }

    @Test
    void theKeyExchangeOfTls13IsNotRequiredWhereTls12IsServed() {
        Map<String, String> flags = new HashMap<>(NEEDED);
        flags.put("tls.postQuantum", "require");
        assertThat(ConfigBinder.bind(ServerConfig.class, flags).tls().postQuantum())
                .isEqualTo(PostQuantum.REQUIRE);
        assertThat(ConfigBinder.bind(ServerConfig.class, NEEDED).tls().postQuantum())
                .isEqualTo(PostQuantum.PREFER);
        flags.put("tunnel.allowTls12", "true");

        assertThatThrownBy(() -> ConfigBinder.bind(ServerConfig.class, flags))
                .hasMessageContaining("tunnel.allowTls12")
                .hasMessageContaining("no post-quantum key exchange");
    }

    @Test
    void trustedProxiesAreAddressesOrBlocks() {
        assertThat(edge("a.example", List.of("10.0.0.0/8", "::1", "fd00::/8", "192.0.2.1")).trustedProxies())
                .hasSize(4);
    }

    @ParameterizedTest
    @ValueSource(strings = {"localhost", "10.0.0.0/33", "10.0.0.0/", "::1/129", "10.0.0.0/-1", "10.0.0/8"})
    void trustedProxyThatIsNoBlockIsRefused(String block) {
        assertThatThrownBy(() -> edge("a.example", List.of(block))).isInstanceOf(ConfigException.class)
                .hasMessageStartingWith("trustedProxies");
    }

    @ParameterizedTest
    @ValueSource(strings = {"https://admin.example.com", "*.example.com", "admin.example.com:9090"})
    void adminHostThatIsNoNameIsRefusedByItsKey(String host) {
        var listen = HostPort.parse("127.0.0.1:0");
        assertThatThrownBy(() -> new ServerConfig.Admin(listen, Path.of("token"), List.of(host), null))
                .isInstanceOf(ConfigException.class)
                .hasMessageStartingWith("hosts");
    }

    @Test
    void limitsOutsideTheirRangeAreRefusedByName() {
        assertRefused("maxUriBytes", "63");
        assertRefused("headTimeout", "0s");
        assertRefused("maxConnectionsPerAddress", "0");
        assertRefused("requestsPerSecond", "1000001");
        assertRefused("bytesPerSecond", "1023");
    }

    private static Map<String, String> with(String key, String value) {
        Map<String, String> keys = new HashMap<>(NEEDED);
        keys.put(key, value);
        return keys;
    }

    private static void assertRefused(String limit, String value) {
        assertThatThrownBy(
                () -> ConfigBinder.bind(ServerConfig.class, with("edge.limits." + limit, value)))
                .hasMessageContaining("edge.limits." + limit);
    }

    @Test
    void keysOfTheContractBindWithTheirDefaults() {
        ServerConfig config = ConfigBinder.bind(ServerConfig.class,
                with("edge.limits.maxStreams", "7"));

        assertThat(config.edge().listen()).isEqualTo(HostPort.parse("0.0.0.0:8443"));
        assertThat(config.tunnel().listen()).isEqualTo(HostPort.parse("0.0.0.0:7443"));
        assertThat(config.admin().listen()).isEqualTo(HostPort.parse("127.0.0.1:9090"));
        assertThat(config.dataDir()).isEqualTo(Path.of("/var/lib/culvert"));
        assertThat(config.edge().limits().maxStreams()).isEqualTo(7);
        assertThat(config.edge().limits().maxHeadBytes()).isEqualTo(CallerLimits.defaults().maxHeadBytes());
        assertThat(config.edge().trustedProxies()).isEmpty();
    }

    @Test
    void aPlainListenerIsSaidSoAndSaysForWhom() {
        assertThat(plainEdge(null, List.of("10.0.0.0/8")).plain()).isTrue();
        assertThatThrownBy(() -> plainEdge(null, List.of())).isInstanceOf(ConfigException.class)
                .hasMessageStartingWith("trustedProxies");
        assertThatThrownBy(() -> plainEdge(TLS, List.of("10.0.0.0/8"))).hasMessageStartingWith("plain");
        assertThatThrownBy(() -> new ServerConfig.Edge(ANY, "a.example", null, List.of(), false,
                CallerLimits.defaults(), List.of("10.0.0.0/8"), false, false, false))
                .hasMessageStartingWith("tls");
        assertThatThrownBy(() -> tunnel(ANY, null, true, List.of("10.0.0.0/8"), true))
                .hasMessageStartingWith("requireMutualTls");
        assertThatThrownBy(() -> tunnel(ANY, null, true, List.of(), false))
                .hasMessageStartingWith("trustedProxies");
    }

    @Test
    void oneAddressIsOneListenerUnlessItsPortIsPicked() {
        ServerConfig.Edge edge = plainEdge(null, List.of("10.0.0.0/8"));
        HostPort port = HostPort.parse("127.0.0.1:8443");
        ServerConfig.Edge fixed = new ServerConfig.Edge(port, "a.example", TLS, List.of(), false,
                CallerLimits.defaults(), List.of(), false, false, false);

        assertThat(whole(fixed, tunnel(port, TLS, false, List.of(), true)).shared()).isTrue();
        assertThat(whole(fixed, tunnel(ANY, TLS, false, List.of(), true)).shared()).isFalse();
        assertThat(whole(edge, tunnel(ANY, TLS, false, List.of(), true)).shared()).isFalse();
        assertThatThrownBy(() -> whole(fixed, tunnel(port, null, true, List.of("10.0.0.0/8"), false)))
                .isInstanceOf(ConfigException.class)
                .hasMessageStartingWith("tunnel.plain");
    }

    @ParameterizedTest
    @ValueSource(strings = {"acme-prod.a.example", "ACME-prod.A.example.", "a-b-c.a.example", "a.example",
            "not a host", "platform.example:443", ""})
    void noRuntimesHostIsThePlatforms(String host) {
        Map<String, String> given = with("edge.platform.host", host);
        given.put("edge.platform.to", "http://127.0.0.1:3030");

        assertThatThrownBy(() -> ConfigBinder.bind(ServerConfig.class, given))
                .hasMessageContaining("edge.platform.host");
    }

    @Test
    void thePlatformsHostHasAServiceAndLimitsOfItsOwn() {
        Map<String, String> given = with("edge.platform.host", "Platform.a.example.");
        given.put("edge.platform.to", "https://127.0.0.1:3030");
        given.put("edge.platform.ca", "/ca.crt");
        given.put("edge.platform.limits.maxBodyBytes", "1MiB");

        ServerConfig.Platform platform = ConfigBinder.bind(ServerConfig.class, given).edge().platform();

        assertThat(platform).isEqualTo(new ServerConfig.Platform("platform.a.example",
                URI.create("https://127.0.0.1:3030"), Path.of("/ca.crt"), null,
                new ServerConfig.PlatformLimits(1000, 0, 0, new ByteSize(1 << 20), new ByteSize(0))));
        assertThat(ConfigBinder.bind(ServerConfig.class, with("edge.serverTiming", "true")).edge().platform())
                .isNull();
        given.put("edge.platform.to", "https://127.0.0.1:3030/api");
        assertThatThrownBy(() -> ConfigBinder.bind(ServerConfig.class, given))
                .hasMessageContaining("edge.platform.to");
        given.put("edge.platform.to", "http://127.0.0.1:3030");
        assertThatThrownBy(() -> ConfigBinder.bind(ServerConfig.class, given))
                .hasMessageContaining("edge.platform.ca");
        given.remove("edge.platform.ca");
        given.put("tunnel.hosts", "platform.a.example");
        assertThatThrownBy(() -> ConfigBinder.bind(ServerConfig.class, given))
                .hasMessageContaining("edge.platform.host");
    }

    private static ServerConfig whole(ServerConfig.Edge edge, ServerConfig.Tunnel tunnel) {
        return new ServerConfig(edge, tunnel, new ServerConfig.Admin(ANY, Path.of("admin.token")),
                Path.of("data"), new ServerConfig.Store(Duration.ZERO));
    }

    private static ServerConfig.Tunnel tunnel(HostPort listen, ServerConfig.@Nullable Tls tls, boolean plain,
            List<String> proxies, boolean requireMutualTls) {
        return new ServerConfig.Tunnel(listen, tls, false, plain, proxies, false,
                new ServerConfig.Ca(Path.of("ca.crt"), Path.of("ca.key"), Duration.ofDays(1)),
                requireMutualTls);
    }

    private static ServerConfig.Edge plainEdge(ServerConfig.@Nullable Tls tls, List<String> proxies) {
        return new ServerConfig.Edge(ANY, "a.example", tls, List.of(), true, CallerLimits.defaults(), proxies,
                false, false, false);
    }

    private static ServerConfig.Edge edge(String domain, List<String> proxies) {
        return new ServerConfig.Edge(ANY, domain, TLS, List.of(), false, CallerLimits.defaults(), proxies,
                false, false, false);
    }
}
