package dev.culvert.e2e.hostile;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The server that is attacked, as every process of a run finds it. All listeners are on 127.0.0.1.
 *
 * @param folder holds its certificates and the admin token
 */
record Target(int edge, int tunnel, int admin, Path folder) {
    static final String DOMAIN = "tunnels.test";
    /** The honest tenant's runtime. */
    static final String HONEST = "bob-prod." + DOMAIN;
    /** The attacker's account. */
    static final String ATTACKER = "mallory";
    /** Runtimes of the attacker for scenarios that need several, {@code r0} to {@code r4}; then comes one for each scenario. */
    static final int SPARE_RUNTIMES = 5;

    private static final HttpClient HTTP = HttpClient.newHttpClient();
    private static final Duration PATIENCE = Duration.ofMinutes(1);

    /** The host of one of the attacker's runtimes. */
    static String attackersHost(int runtime) {
        return ATTACKER + "-r" + runtime + "." + DOMAIN;
    }

    /** As {@link #arguments} wrote it. */
    static Target of(String... arguments) {
        return new Target(Integer.parseInt(arguments[0]), Integer.parseInt(arguments[1]),
                Integer.parseInt(arguments[2]), Path.of(arguments[3]));
    }

    String[] arguments() {
        return new String[]{Integer.toString(edge), Integer.toString(tunnel), Integer.toString(admin),
                folder.toString()};
    }

    /** Calls the admin API. Returns the answer's body. */
    String api(String method, String path, String body) throws IOException, InterruptedException {
        return admin(method, "/api/v1" + path, body).body();
    }

    /** Calls the admin listener. */
    HttpResponse<String> admin(String method, String path, String body)
            throws IOException, InterruptedException {
        return HTTP.send(HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + admin + path))
                .timeout(PATIENCE)
                .header("authorization", "Bearer " + adminToken())
                .header("content-type", "application/json")
                .method(method, HttpRequest.BodyPublishers.ofString(body))
                .build(), HttpResponse.BodyHandlers.ofString());
    }

    /** Creates a runtime. Returns the file of its enrolment token. */
    Path createRuntime(String account, String name) throws IOException, InterruptedException {
        String json = api("POST", "/runtimes",
                "{\"account\":\"" + account + "\",\"name\":\"" + name + "\",\"hosts\":[]}");
        Matcher token = Pattern.compile("\"enrolmentToken\":\"([^\"]+)\"").matcher(json);
        if (!token.find()) {
            throw new IOException("no token in " + json);
        }
        return Files.writeString(folder.resolve(account + "-" + name + ".token"), token.group(1));
    }

    private String adminToken() {
        try {
            return Files.readString(folder.resolve("admin.token")).strip();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
