package dev.culvert.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class ConfigBinderTest {
    enum Mode {
        FAST, VERY_SAFE
    }

    record Tls(@Setting("the certificate") Path certificate, @Setting("its key") Path key) {}

    record Edge(@Setting("where it listens") HostPort listen, @Setting("its domain") String domain,
            @Setting(value = "streams", byDefault = "1000", accepts = "1..5000") int maxStreams,
            @Nullable Tls tls) {
        Edge {
            if (maxStreams < 1 || maxStreams > 5000) {
                throw new ConfigException("maxStreams", "1..5000");
            }
        }
    }

    record Route(@Setting("the path") String path, @Setting("the upstream") URI to,
            @Setting(value = "whether", byDefault = "false") boolean stripPrefix) {}

    record Sample(Edge edge, @Setting(value = "how", byDefault = "very-safe") Mode mode,
            @Setting(value = "pause", byDefault = "10s") Duration pause,
            @Setting(value = "size", byDefault = "64KiB") ByteSize size,
            @Setting("addresses") List<URI> server,
            @Setting(value = "routes", fileOnly = true) List<Route> routes,
            @Setting("names") Map<String, HostPort> resolve,
            @Setting(value = "password", secret = true, accepts = "at least 8 characters") @Nullable String password) {
        Sample {
            if (password != null && password.length() < 8) {
                throw new ConfigException("password", "at least 8 characters");
            }
        }
    }

    private static final Map<String, String> MIN = Map.of("edge.listen", "127.0.0.1:0", "edge.domain",
            "x.test");

    @Test
    void credentialsInAUrlAreNeverShown() {
        var flags = new LinkedHashMap<>(MIN);
        flags.put("server", "wss://user:passw@a:1,wss://b:2/x@y");
        ConfigBinding binding = ConfigBinder.bind(new ConfigSources(null, Map.of(), Map.of(), flags),
                List.of(Sample.class));

        assertThat(binding.effective()).anySatisfy(
                entry -> assertThat(entry.value()).contains("wss://***@a:1", "wss://b:2/x@y"));
        assertThat(binding.effective()).noneSatisfy(entry -> assertThat(entry.value()).contains("passw"));

        flags.put("size", "http://user:secret@a");
        ConfigErrors thrown = catchThrowableOfType(ConfigErrors.class, () -> ConfigBinder
                .bind(new ConfigSources(null, Map.of(), Map.of(), flags), List.of(Sample.class)));
        assertThat(thrown).hasMessageContaining("http://***@a").hasMessageNotContaining("secret");
    }

    @Test
    void codeBindsEveryTypeAndDefaultsFillTheRest() {
        var values = new LinkedHashMap<>(MIN);
        values.put("server", "wss://a:1, wss://b:2");
        values.put("resolve.cap-app-proxy", "127.0.0.1:3017");
        values.put("resolve.x.svc.cluster.local", "[::1]:1");

        Sample sample = ConfigBinder.bind(Sample.class, values);

        assertThat(sample.edge()).isEqualTo(new Edge(new HostPort("127.0.0.1", 0), "x.test", 1000, null));
        assertThat(sample.mode()).isEqualTo(Mode.VERY_SAFE);
        assertThat(sample.pause()).isEqualTo(Duration.ofSeconds(10));
        assertThat(sample.size().bytes()).isEqualTo(65536);
        assertThat(sample.server()).containsExactly(URI.create("wss://a:1"), URI.create("wss://b:2"));
        assertThat(sample.resolve()).containsEntry("x.svc.cluster.local", new HostPort("::1", 1)).hasSize(2);
        assertThat(sample.routes()).isEmpty();
        assertThat(sample.password()).isNull();
    }

    @Test
    void flagsWinOverEnvironmentOverFileOverDefaults() {
        var sources = new ConfigSources(file("pause", "1s", "size", "1KiB", "mode", "fast"),
                Map.of("CULVERT_PAUSE", "2s", "CULVERT_SIZE", "2KiB"), Map.of("--pause", "3s"), MIN);

        ConfigBinding binding = ConfigBinder.bind(sources, List.of(Sample.class));

        Sample sample = binding.value(Sample.class);
        assertThat(sample.pause()).isEqualTo(Duration.ofSeconds(3));
        assertThat(sample.size()).isEqualTo(new ByteSize(2048));
        assertThat(sample.mode()).isEqualTo(Mode.FAST);
        assertThat(binding.effective()).extracting(e -> e.key() + "=" + e.value() + " " + e.origin())
                .contains(
                        "pause=3s --pause", "size=2KiB CULVERT_SIZE", "mode=fast s.yaml:3",
                        "edge.maxStreams=1000 default");
    }

    @Test
    void mistakesAreReportedTogetherWithOriginKeyValueAndWhatIsAccepted() {
        var sources = new ConfigSources(file("pause", "soon", "mode", "fastt", "sizes", "1"),
                Map.of("CULVERT_EDGE_LISTEN", "8443"), Map.of("--edge-max-streams", "9999"), Map.of());

        List<String> errors = errors(sources);

        assertThat(errors).containsExactlyInAnyOrder("s.yaml:3: sizes: unknown key (nearest: size)",
                "CULVERT_EDGE_LISTEN: edge.listen: \"8443\" (expected: host:port, as 127.0.0.1:8443 or [::1]:8443; port 1 to 65535, 0 for a free one)",
                "s.yaml: edge.domain: missing (expected: text; set it in the file, with --edge-domain or CULVERT_EDGE_DOMAIN)",
                "s.yaml:2: mode: \"fastt\" (expected: one of fast, very-safe)",
                "s.yaml:1: pause: \"soon\" (expected: a duration as 500ms, 10s, 5m, 2h or 7d)");
    }

    @Test
    void aRecordsOwnCheckNamesTheOriginOfItsComponent() {
        var sources = new ConfigSources(null, Map.of(), Map.of("--edge-max-streams", "9999"), MIN);

        assertThat(errors(sources))
                .containsExactly("--edge-max-streams: edge.maxStreams: \"9999\" (expected: 1..5000)");
    }

    record Pace(@Setting(value = "how", byDefault = "slow", shorthand = true) String how,
            @Setting(value = "count", byDefault = "0") int count) {
        Pace {
            if (how.equals("never")) {
                throw new ConfigException("how", "slow or fast");
            }
        }
    }

    record Shortened(Pace pace) {}

    private static ConfigBinding shortened(ConfigNode.@Nullable Entries file, Map<String, String> flags) {
        return ConfigBinder.bind(new ConfigSources(file, Map.of(), flags, Map.of()),
                List.of(Shortened.class));
    }

    @Test
    void aRecordMayBeWrittenAsOneOfItsValues() {
        assertThat(shortened(null, Map.of()).value(Shortened.class).pace()).isEqualTo(new Pace("slow", 0));
        ConfigBinding binding = shortened(file("pace", "fast"), Map.of("--pace-count", "3"));
        assertThat(binding.value(Shortened.class).pace()).isEqualTo(new Pace("fast", 3));
        assertThat(binding.effective()).extracting(e -> e.key() + "=" + e.value() + " " + e.origin())
                .containsExactly("pace=fast s.yaml:1", "pace.count=3 --pace-count");
        assertThat(shortened(file("pace", "fast"), Map.of("--pace", "slow")).value(Shortened.class).pace())
                .isEqualTo(new Pace("slow", 0));
        assertThat(catchThrowableOfType(ConfigErrors.class,
                () -> shortened(file("pace", "never"), Map.of())))
                .hasMessageContaining("s.yaml:1: pace: \"never\" (expected: slow or fast)");
    }

    record Addresses(@Setting("addresses") List<URI> server) {
        Addresses {
            if (server.isEmpty()) {
                throw new ConfigException("server", "1 to 16 addresses, as wss://a:1");
            }
        }
    }

    @Test
    void aListThatMayNotBeEmptyNamesTheWaysToSetIt() {
        for (ConfigNode.@Nullable Entries file : new ConfigNode.@Nullable Entries[]{null,
                file("mode", "fast")}) {
            var sources = new ConfigSources(file, Map.of(), Map.of(), MIN);

            ConfigErrors thrown = catchThrowableOfType(ConfigErrors.class,
                    () -> ConfigBinder.bind(sources, List.of(Sample.class, Addresses.class)));

            assertThat(thrown.errors())
                    .containsExactly((file == null ? "" : "s.yaml: ") + "server: missing (expected: 1 to 16"
                            + " addresses, as wss://a:1; set it in the file, with --server or CULVERT_SERVER)");
        }
    }

    @Test
    void aListThatIsGivenAndEmptyNamesItsPlace() {
        var sources = new ConfigSources(file("server", ""), Map.of(), Map.of(), MIN);

        ConfigErrors thrown = catchThrowableOfType(ConfigErrors.class,
                () -> ConfigBinder.bind(sources, List.of(Sample.class, Addresses.class)));

        assertThat(thrown.errors())
                .containsExactly("s.yaml:1: server: \"[]\" (expected: 1 to 16 addresses, as wss://a:1)");
    }

    @Test
    void aSecretIsNeverShown() {
        var wrong = new ConfigSources(null, Map.of("CULVERT_PASSWORD", "hunter2"), Map.of(), MIN);
        var right = new ConfigSources(null, Map.of("CULVERT_PASSWORD", "hunter2hunter2"), Map.of(), MIN);

        assertThat(errors(wrong))
                .containsExactly("CULVERT_PASSWORD: password: *** (expected: at least 8 characters)");
        assertThat(ConfigBinder.bind(right, List.of(Sample.class)).effective())
                .contains(new ConfigBinding.Effective("password", "***", Origin.of("CULVERT_PASSWORD")));
    }

    @Test
    void anOptionalGroupIsAbsentUntilOneOfItsKeysIsSet() {
        var sources = new ConfigSources(null, Map.of("CULVERT_EDGE_TLS_KEY", "k"), Map.of(), MIN);

        assertThat(errors(sources))
                .containsExactly("edge.tls.certificate: missing (expected: a path; set it in the"
                        + " file, with --edge-tls-certificate or CULVERT_EDGE_TLS_CERTIFICATE)");
    }

    record Empty() {}

    record Handlers(@Nullable Empty info, @Nullable Tls git) {}

    record Host(Handlers handlers) {}

    @Test
    void aGroupWithoutKeysIsPresentWhenItIsNamed() {
        Origin line = Origin.of("s.yaml:2");
        var handlers = new ConfigNode.Entries(Map.of("info", new ConfigNode.Scalar("", line)), line);
        var file = new ConfigNode.Entries(Map.of("handlers", handlers), line);

        ConfigBinding binding = ConfigBinder.bind(new ConfigSources(file, Map.of(), Map.of(), Map.of()),
                List.of(Host.class));

        assertThat(binding.value(Host.class).handlers()).isEqualTo(new Handlers(new Empty(), null));
        assertThat(binding.effective())
                .containsExactly(new ConfigBinding.Effective("handlers.info", "{}", line));
        assertThat(ConfigBinder.bind(Host.class, Map.of()).handlers()).isEqualTo(new Handlers(null, null));
    }

    @Test
    void relativePathsCountFromTheFolderOfTheirFile() {
        Origin origin = new Origin("s.yaml:1", Path.of("/etc/culvert"));
        var tls = new ConfigNode.Entries(Map.of("certificate", new ConfigNode.Scalar("a.crt", origin)),
                origin);
        var edge = new ConfigNode.Entries(Map.of("tls", tls), origin);
        var file = new ConfigNode.Entries(Map.of("edge", edge), origin);
        var sources = new ConfigSources(file, Map.of(), Map.of("--edge-tls-key", "a.key"), MIN);

        Tls bound = ConfigBinder.bind(sources, List.of(Sample.class)).value(Sample.class).edge().tls();

        assertThat(bound).isEqualTo(new Tls(Path.of("/etc/culvert/a.crt"), Path.of("a.key")));
    }

    @Test
    void mistakesInsideAListNameTheirPlace() {
        Origin line = Origin.of("s.yaml:7");
        var route = new ConfigNode.Entries(
                Map.of("path", new ConfigNode.Scalar("/x/", line), "too", new ConfigNode.Scalar("x", line)),
                line);
        var file = new ConfigNode.Entries(Map.of("routes", new ConfigNode.Items(List.of(route), line)), line);

        assertThat(errors(new ConfigSources(file, Map.of(), Map.of(), MIN))).containsExactly(
                "s.yaml:7: routes[0].too: unknown key (nearest: routes[0].to)",
                "s.yaml:7: routes[0].to: missing (expected: a URI with its scheme, as https://example.com:8443)");
    }

    @Test
    void unknownVariablesAreWarnedAboutAndFileOnlyKeysHaveNone() {
        var sources = new ConfigSources(null,
                Map.of("CULVERT_PORT", "tcp://10.0.0.1:80", "CULVERT_ROUTES", "x", "HOME", "/"), Map.of(),
                MIN);

        ConfigBinding binding = ConfigBinder.bind(sources, List.of(Sample.class));

        assertThat(binding.warnings()).hasSize(2).allMatch(warning -> warning.contains("ignored"));
    }

    @Test
    void settingsListFlagVariableTypeAndDefault() {
        List<SettingInfo> settings = ConfigBinder.settings(List.of(Sample.class));

        assertThat(settings).extracting(SettingInfo::key)
                .containsExactly("edge.listen", "edge.domain",
                        "edge.maxStreams", "edge.tls.certificate", "edge.tls.key", "mode", "pause", "size",
                        "server", "routes",
                        "routes[].path", "routes[].to", "routes[].stripPrefix", "resolve", "password");
        SettingInfo streams = settings.get(2);
        assertThat(streams.flag()).isEqualTo("--edge-max-streams");
        assertThat(streams.variable()).isEqualTo("CULVERT_EDGE_MAX_STREAMS");
        assertThat(streams.required()).isFalse();
        assertThat(settings.get(10).fileOnly()).isTrue();
        assertThat(settings).filteredOn(SettingInfo::required)
                .extracting(SettingInfo::group)
                .containsExactly("", "",
                        "edge.tls", "edge.tls", "routes[]", "routes[]");
    }

    private static List<String> errors(ConfigSources sources) {
        ConfigErrors thrown = catchThrowableOfType(ConfigErrors.class,
                () -> ConfigBinder.bind(sources, List.of(Sample.class)));
        assertThat(thrown).isNotNull();
        return thrown.errors();
    }

    /** A file with one key a line. */
    private static ConfigNode.Entries file(String... keysAndValues) {
        var entries = new LinkedHashMap<String, ConfigNode>();
        for (int i = 0; i < keysAndValues.length; i += 2) {
            entries.put(keysAndValues[i],
                    new ConfigNode.Scalar(keysAndValues[i + 1], Origin.of("s.yaml:" + (i / 2 + 1))));
        }
        return new ConfigNode.Entries(entries, Origin.of("s.yaml"));
    }
}
