package dev.culvert.platform.directory.testing;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.culvert.config.ConfigBinder;
import dev.culvert.config.ConfigSources;
import dev.culvert.config.yaml.YamlFile;
import dev.culvert.platform.host.ControlPlane;
import dev.culvert.platform.host.ControlPlaneConfig;
import dev.culvert.store.Database.Engine;
import dev.culvert.store.DatabaseServer;
import dev.culvert.store.postgres.testing.TestServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** A control plane with the modules of the class path, and its callers. */
public final class Plane implements AutoCloseable {
    private static final Duration TIME = Duration.ofMinutes(1);
    private static final JsonMapper JSON = new JsonMapper();

    private final HttpClient http = HttpClient.newHttpClient();
    private final Path folder;
    private final ControlPlaneConfig config;
    private ControlPlane running;
    /** The key of the operator. */
    public final String admin;

    private Plane(Path folder, ControlPlaneConfig config) {
        this.folder = folder;
        this.config = config;
        this.running = started(config);
        this.admin = read(folder.resolve("admin.key"));
    }

    /** The lines of an empty store. */
    public static String store(Engine engine) {
        return switch (engine) {
            case SQLITE -> "";
            case POSTGRES -> {
                DatabaseServer empty = TestServer.database();
                yield "store: { kind: postgres, url: \"postgresql://" + empty.hosts() + "/" + empty.database()
                        + "\", user: postgres, tls: \"off\" }\n";
            }
        };
    }

    /** Starts one with more lines of control-plane.yaml. */
    public static Plane start(Path folder, String yaml) {
        Path file = folder.resolve("control-plane.yaml");
        write(file, "listen: 127.0.0.1:0\ndataDir: " + folder.resolve("data") + "\nadminKeyFile: "
                + folder.resolve("admin.key") + "\n" + yaml);
        return new Plane(folder, ConfigBinder
                .bind(new ConfigSources(YamlFile.read(file), Map.of(), Map.of(), Map.of()),
                        List.of(ControlPlaneConfig.class))
                .value(ControlPlaneConfig.class));
    }

    private static ControlPlane started(ControlPlaneConfig config) {
        return Objects.requireNonNull(ControlPlane.start(config).block(TIME));
    }

    public Path database() {
        return folder.resolve("data").resolve("directory.db");
    }

    /** Runs a statement in its database, on either engine. */
    public void execute(String sql) {
        try (Connection connection = connect(); Statement statement = connection.createStatement()) {
            statement.execute(sql);
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    /** The first column of a query in its database. */
    public List<String> rows(String sql) {
        List<String> found = new ArrayList<>();
        try (Connection connection = connect();
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(sql)) {
            while (rows.next()) {
                found.add(rows.getString(1));
            }
            return found;
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    /** All that its database holds: the bytes of its files, or the rows of each table. */
    public String dump() {
        if (config.store().url() != null) {
            return rows("SELECT tablename FROM pg_tables WHERE schemaname = 'public'").stream()
                    .flatMap(table -> rows("SELECT t::text FROM " + table + " t").stream())
                    .collect(Collectors.joining("\n"));
        }
        return Stream.of("directory.db", "directory.db-wal")
                .map(name -> database().resolveSibling(name))
                .filter(Files::exists)
                .map(file -> read(file, StandardCharsets.ISO_8859_1))
                .collect(Collectors.joining());
    }

    /** The file of the keys that wrap secrets. */
    public Path wrappingKeys() {
        return database().resolveSibling("token.key");
    }

    private Connection connect() throws SQLException {
        String url = config.store().url();
        return url == null
                ? DriverManager.getConnection("jdbc:sqlite:" + database())
                : TestServer.connect(url.substring(url.lastIndexOf('/') + 1));
    }

    public void stop() {
        running.stop(Duration.ZERO).block(TIME);
    }

    public void restart() {
        running = started(config);
    }

    /** An answer. */
    public record Answer(int status, JsonNode json) {
        /** The status of the first error of GraphQL; 200 without one. */
        public int graphQl() {
            return json.at("/errors/0/extensions/status").asInt(200);
        }

        public String error() {
            return json.at("/errors/0/message").asText();
        }
    }

    public Answer call(String method, String path, String key, String body) {
        HttpRequest.Builder request = HttpRequest
                .newBuilder(uri(path))
                .method(method, body.isEmpty() ? BodyPublishers.noBody() : BodyPublishers.ofString(body));
        if (!key.isEmpty()) {
            request.header("authorization", key);
        }
        if (!body.isEmpty()) {
            request.header("content-type", "application/json");
        }
        return send(request.build());
    }

    /** The URI of a path. */
    public URI uri(String path) {
        return URI.create("http://" + running.address() + path);
    }

    /** What a request is answered. An answer that is no JSON is a text. */
    public Answer send(HttpRequest request) {
        try {
            HttpResponse<String> response = http.send(request, HttpResponse.BodyHandlers.ofString());
            String text = response.body();
            return new Answer(response.statusCode(), text.startsWith("{") || text.startsWith("[")
                    ? JSON.readTree(text)
                    : JSON.valueToTree(text));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            throw new IllegalStateException("interrupted", e);
        }
    }

    public Answer graphQl(String key, String query, Map<String, ?> variables) {
        try {
            return call("POST", "/2.0/api/graphql", key,
                    JSON.writeValueAsString(Map.of("query", query, "variables", variables)));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Creates a runtime. */
    public Answer create(String key, Map<String, ?> args) {
        return graphQl(key,
                "mutation C($a: RuntimeInstallationArgs!) { createRuntime(installationArgs: $a) { name newAccessToken } }",
                Map.of("a", args));
    }

    /** Creates a runtime with a tunnel. Returns its token. */
    public String created(String key, String name) {
        Answer made = create(key, Map.of("runtimeName", name));
        assertThat(made.graphQl()).as(made.json().toString()).isEqualTo(200);
        return made.json().at("/data/createRuntime/newAccessToken").asText();
    }

    public Answer delete(String key, String name, boolean force) {
        return graphQl(key, "mutation D($n: String!, $f: Boolean) { deleteRuntime(name: $n, force: $f) }",
                Map.of("n", name, "f", force));
    }

    public String account() {
        return call("GET", "/api/me", admin, "").json().path("account").asText();
    }

    /** Makes another account with an administrator. Returns that user's key. */
    public String otherAccount(String name) {
        String account = call("POST", "/api/accounts", admin, "{\"name\":\"" + name + "\"}").json()
                .path("id")
                .asText();
        return userOf(account, name, true);
    }

    /** Makes a user of an account. Returns the user's key. */
    public String userOf(String account, String name, boolean isAdmin) {
        String user = call("POST", "/api/users?account=" + account, admin,
                "{\"name\":\"" + name + "\",\"email\":\"" + name + "@x.test\",\"admin\":" + isAdmin + "}")
                .json()
                .path("id")
                .asText();
        return call("POST", "/api/keys?account=" + account, admin, "{\"user\":\"" + user + "\"}").json()
                .path("key")
                .asText();
    }

    public static String read(Path file) {
        return read(file, StandardCharsets.UTF_8).strip();
    }

    private static String read(Path file, Charset charset) {
        try {
            return Files.readString(file, charset);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    public static void write(Path file, String text) {
        try {
            Files.writeString(file, text);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void close() {
        stop();
        http.close();
    }
}
