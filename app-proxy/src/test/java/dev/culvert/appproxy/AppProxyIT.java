package dev.culvert.appproxy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.culvert.appproxy.credentials.TokensConfig;
import dev.culvert.appproxy.repositories.IntegrationConfig;
import dev.culvert.appproxy.repositories.RepositoriesConfig;
import dev.culvert.config.ConfigException;
import dev.culvert.config.HostPort;
import dev.culvert.http.net.ListenException;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class AppProxyIT {
    private static final Duration TIME = Duration.ofMinutes(1);
    private static final HostPort ANY = new HostPort("127.0.0.1", 0);

    private final HttpClient http = HttpClient.newHttpClient();
    private @Nullable AppProxy proxy;

    @AfterEach
    void stop() {
        if (proxy != null) {
            proxy.stop(Duration.ZERO).block(TIME);
        }
    }

    @Test
    void saysWhatItIs(@TempDir Path repositories) throws IOException, InterruptedException {
        start(ANY, "demo/local", AppProxyConfig.Git.of(repositories));

        HttpResponse<String> info = send("GET", "/app-proxy/api/info");

        assertThat(info.headers().firstValue("content-type")).contains("application/json");
        assertThat(info.body()).matches(
                "\\{\"version\":\"[^\"]+\",\"runtime\":\"demo/local\",\"handlers\":\\[\"git\",\"info\"]}");
    }

    @Test
    void infoIsReadOnly() throws IOException, InterruptedException {
        start(ANY, null, null);

        HttpResponse<String> refused = send("DELETE", "/app-proxy/api/info");

        assertThat(refused.statusCode()).isEqualTo(405);
        assertThat(refused.headers().firstValue("allow")).contains("GET, HEAD");
    }

    @Test
    void aHandlerThatIsNotConfiguredIsNotThere() throws IOException, InterruptedException {
        start(ANY, null, null);

        assertThat(send("GET", "/app-proxy/git/demo.git/info/refs?service=git-upload-pack").statusCode())
                .isEqualTo(404);
        assertThat(send("GET", "/app-proxy/api/info").body())
                .contains("\"runtime\":null,\"handlers\":[\"info\"]");
        assertThat(send("GET", "/app-proxy/api/info/x").statusCode()).isEqualTo(404);
    }

    @Test
    void tellsItsHealth() throws IOException, InterruptedException {
        start(ANY, null, null);

        assertThat(send("GET", "/healthz").statusCode()).isEqualTo(200);
        assertThat(send("GET", "/readyz").body()).isEqualTo("ok\n");
        assertThat(send("GET", "/metrics").body()).contains("jvm_memory_used_bytes");
    }

    @Test
    void aPortInUseIsNamed() {
        start(ANY, null, null);
        HostPort taken = address();

        assertThatThrownBy(() -> AppProxy.start(config(taken, null, null)).block(TIME))
                .isInstanceOfSatisfying(ListenException.class, e -> assertThat(e.address()).isEqualTo(taken));
    }

    @Test
    void aMissingFolderIsAConfigurationError(@TempDir Path folder) {
        var git = AppProxyConfig.Git.of(folder.resolve("none"));

        assertThatThrownBy(() -> AppProxy.start(config(ANY, null, git)).block(TIME))
                .isInstanceOfSatisfying(ConfigException.class,
                        e -> assertThat(e.key()).isEqualTo("handlers.git.repositories"));
    }

    @Test
    void tokensThatCanNotBeReadAreAConfigurationError(@TempDir Path folder) throws IOException {
        Path keys = Files.writeString(folder.resolve("tokens.key"), "no key");
        var repositories = RepositoriesConfig.of(
                List.of(IntegrationConfig.folder("here", Files.createDirectory(folder.resolve("git")))),
                TokensConfig.files(folder, keys));
        var config = AppProxyConfig.of(ANY, null, AppProxyConfig.Handlers.of(repositories));

        for (String mode : List.of("rw-r--r--", "rw-------")) {
            Files.setPosixFilePermissions(keys, PosixFilePermissions.fromString(mode));
            assertThatThrownBy(() -> AppProxy.start(config).block(TIME))
                    .isInstanceOfSatisfying(ConfigException.class,
                            e -> assertThat(e.key()).isEqualTo("handlers.repositories.tokens"))
                    .hasMessageContaining(keys.toString());
        }
    }

    private void start(HostPort listen, @Nullable String runtime, AppProxyConfig.@Nullable Git git) {
        proxy = AppProxy.start(config(listen, runtime, git)).block(TIME);
    }

    private static AppProxyConfig config(HostPort listen, @Nullable String runtime,
            AppProxyConfig.@Nullable Git git) {
        var info = new AppProxyConfig.Info();
        return AppProxyConfig.of(listen, runtime,
                git == null ? AppProxyConfig.Handlers.of(info) : AppProxyConfig.Handlers.of(info, git));
    }

    private HostPort address() {
        return Objects.requireNonNull(proxy).address();
    }

    private HttpResponse<String> send(String method, String path) throws IOException, InterruptedException {
        var request = HttpRequest.newBuilder(URI.create("http://" + address() + path))
                .method(method, HttpRequest.BodyPublishers.noBody())
                .build();
        return http.send(request, HttpResponse.BodyHandlers.ofString());
    }
}
