package dev.culvert.platform.runtimes;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.culvert.certs.Base64Url;
import dev.culvert.certs.EnrolmentToken;
import dev.culvert.platform.directory.testing.Plane;
import dev.culvert.platform.directory.testing.Plane.Answer;
import graphql.language.FieldDefinition;
import graphql.language.ObjectTypeDefinition;
import graphql.schema.idl.SchemaParser;
import graphql.schema.idl.TypeDefinitionRegistry;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Every operation of the control plane by every credential: docs/security.md, "Credentials". The operations
 * are those of the served documents, so that a new one without a row fails.
 */
class CredentialMatrixIT {
    /** The credentials. */
    private enum Credential {
        NONE, GARBAGE, REVOKED, EXPIRED, USER, ADMIN, OPERATOR, RUNTIME, OTHER_RUNTIME, RUNTIME_TOKEN, SECRET_HASH, REGISTRAR
    }

    /** The credentials that an operation accepts. Others are 401 if they are no key, and 403 if they are. */
    @SuppressWarnings("ImmutableEnumChecker") // Set.of is immutable
    private enum Row {
        ANYONE(Set.of(Credential.values())), HOLDER(
                Set.of(Credential.USER, Credential.ADMIN, Credential.OPERATOR, Credential.RUNTIME,
                        Credential.OTHER_RUNTIME)), USER(
                                Set.of(Credential.USER, Credential.ADMIN, Credential.OPERATOR)), ADMIN(
                                        Set.of(Credential.ADMIN, Credential.OPERATOR)),
        /** Users whom a rule allows it: this one has none. */
        MEMBER(Set.of(Credential.ADMIN, Credential.OPERATOR)), OPERATOR(
                Set.of(Credential.OPERATOR)), RUNTIME(
                        Set.of(Credential.RUNTIME, Credential.OTHER_RUNTIME)),
        /** The runtime that it is about, and administrators. */
        ITSELF(Set.of(Credential.RUNTIME, Credential.ADMIN, Credential.OPERATOR));

        private final Set<Credential> accepted;

        Row(Set<Credential> accepted) {
            this.accepted = accepted;
        }
    }

    private static final Set<Credential> KEYS = Row.HOLDER.accepted;
    private static final Map<String, Row> CALLS = new TreeMap<>();
    /** By field: its row, and a query whose change, if any, does no harm. */
    private static final Map<String, Field> FIELDS = new TreeMap<>();

    private record Field(Row row, String query) {}

    static {
        rows(Row.ANYONE, "GET /api/ping", "GET /openapi.json", "GET /graphql.sdl");
        rows(Row.OPERATOR, "GET /api/token-keys", "POST /api/token-keys", "GET /api/outbox",
                "GET /api/accounts", "POST /api/accounts",
                "DELETE /api/accounts/{id}");
        rows(Row.ADMIN, "GET /api/users", "POST /api/users", "DELETE /api/users/{id}", "GET /api/teams",
                "POST /api/teams", "DELETE /api/teams/{id}", "PUT /api/teams/{id}/members/{user}",
                "DELETE /api/teams/{id}/members/{user}", "GET /api/keys", "POST /api/keys",
                "DELETE /api/keys/{id}", "GET /api/runtimes", "GET /api/abac", "POST /api/abac",
                "DELETE /api/abac/{id}", "POST /api/argo-runtime", "GET /api/auth/keys", "POST /api/auth/key",
                "GET /api/auth/key/{id}", "DELETE /api/auth/key/{id}", "GET /api/team", "POST /api/team",
                "DELETE /api/team/{id}", "PUT /api/team/{id}/{user}/assignUserToTeam",
                "PUT /api/team/{id}/{user}/deleteUserFromTeam", "GET /api/accounts/{id}/users");
        rows(Row.MEMBER, "GET /api/hermes/types", "GET /api/hermes/types/{type}/{kind}",
                "GET /api/hermes/events", "POST /api/hermes/events", "GET /api/hermes/events/{event}",
                "DELETE /api/hermes/events/{event}", "DELETE /api/hermes/events/{event}/{context}",
                "GET /api/hermes/triggers", "GET /api/hermes/triggers/event/{event}",
                "GET /api/hermes/triggers/pipeline/{pipeline}",
                "POST /api/hermes/triggers/{event}/{pipeline}",
                "DELETE /api/hermes/triggers/{event}/{pipeline}", "GET /api/hermes/runs",
                "GET /api/hermes/runs/{id}", "POST /api/hermes/runs/{id}/replay", "GET /api/hermes/refusals",
                "POST /api/hermes/explain", "POST /api/custom_clusters/signServerCerts",
                "POST /api/custom_clusters/clientCerts", "GET /api/custom_clusters/names");
        rows(Row.ADMIN, "PUT /api/custom_clusters/names", "GET /api/custom_clusters/certificates",
                "DELETE /api/custom_clusters/certificates/{serial}");
        rows(Row.ANYONE, "GET /api/custom_clusters/crl");
        // What happened is judged by the secret of the event: TriggersIT.
        rows(Row.ANYONE, "POST /api/hermes/run/{event}", "POST /api/hermes/git/{provider}",
                "POST /nomios/dockerhub", "POST /nomios/quay", "POST /nomios/jfrog", "POST /nomios/azure",
                "POST /nomios/docker", "POST /nomios/helm", "POST /nomios/helm/jfrog");
        rows(Row.HOLDER, "POST /api/abac/decide", "POST /2.0/api/graphql");
        rows(Row.USER, "GET /api/me", "GET /api/user", "POST /api/runtime-tokens");
        rows(Row.RUNTIME, "POST /api/tokens/resolve", "GET /api/changes", "PUT /api/runtime");
        rows(Row.ITSELF, "GET /api/argo-runtime/{name}/storeKey");
        field(Row.HOLDER, "Query.me", "{ me { id runtimeName activeAccount { admins } } }");
        field(Row.HOLDER, "Query.rootFields", "{ rootFields }");
        field(Row.HOLDER, "Query.runtime", "{ runtime(name: \"prod\") { accessMode } }");
        field(Row.HOLDER, "Query.runtimes", "{ runtimes { edges { cursor } } }");
        field(Row.HOLDER, "Query.components", "{ components(runtime: \"prod\") { edges { cursor } } }");
        field(Row.HOLDER, "Query.shouldBeImplicitConfigurationRuntime",
                "{ shouldBeImplicitConfigurationRuntime }");
        field(Row.ADMIN, "Mutation.createRuntime",
                "mutation { createRuntime(installationArgs: {runtimeName: \"prod\"}) { name } }");
        field(Row.ADMIN, "Mutation.deleteRuntime", "mutation { deleteRuntime(name: \"absent\") }");
        field(Row.ADMIN, "Mutation.deleteManagedRuntime",
                "mutation { deleteManagedRuntime(name: \"absent\") }");
        field(Row.ADMIN, "Mutation.designateConfigurationRuntime",
                "mutation { designateConfigurationRuntime(name: \"prod\") { accessMode } }");
        field(Row.ADMIN, "Mutation.updateCsdpSettings",
                "mutation { updateCsdpSettings(gitProvider: GITHUB, gitApiUrl: \"https://a.test\", sharedConfigRepo: \"https://a.test/b\") }");
        field(Row.ADMIN, "Mutation.suggestIscRepo",
                "mutation { suggestIscRepo(suggestedSharedConfigRepo: \"https://a.test/b\") }");
        field(Row.ITSELF, "Mutation.reportRuntimeErrors",
                "mutation { reportRuntimeErrors(reportErrorsArgs: {runtime: \"prod\", errors: []}) }");
    }

    @TempDir
    Path folder;
    private final StubServer server = new StubServer();
    private final Map<Credential, String> credentials = new EnumMap<>(Credential.class);
    private Plane plane;

    private static void rows(Row row, String... calls) {
        for (String call : calls) {
            CALLS.put(call, row);
        }
    }

    private static void field(Row row, String name, String query) {
        FIELDS.put(name, new Field(row, query));
    }

    @BeforeEach
    void start() {
        plane = Planes.start(folder, server);
        String account = plane.account();
        String token = plane.created(plane.admin, "prod");
        credentials.put(Credential.NONE, "");
        credentials.put(Credential.GARBAGE, account + "." + "x".repeat(43));
        credentials.put(Credential.USER, plane.userOf(account, "user", false));
        credentials.put(Credential.ADMIN, plane.userOf(account, "admin2", true));
        credentials.put(Credential.OPERATOR, plane.admin);
        credentials.put(Credential.RUNTIME, token);
        credentials.put(Credential.OTHER_RUNTIME, plane.created(plane.admin, "second"));
        credentials.put(Credential.SECRET_HASH, Base64Url.encode(EnrolmentToken.parse(token).secretHash()));
        credentials.put(Credential.REGISTRAR, StubServer.TOKEN);
        credentials.put(Credential.RUNTIME_TOKEN,
                plane.call("POST", "/api/runtime-tokens", plane.admin, "{\"runtime\":\"prod\"}")
                        .json()
                        .path("token")
                        .asText());
        credentials.put(Credential.REVOKED, revoked(account));
        credentials.put(Credential.EXPIRED, expired(account));
    }

    @AfterEach
    void stop() {
        plane.close();
        server.close();
    }

    private String revoked(String account) {
        String key = plane.userOf(account, "gone", true);
        String id = key.substring(0, key.indexOf('.'));
        assertThat(plane.call("DELETE", "/api/keys/" + id, plane.admin, "").status()).isEqualTo(204);
        return key;
    }

    /** A key that expires within a second, and has. */
    private String expired(String account) {
        long soon = Instant.now().getEpochSecond() + 1;
        String user = plane.call("GET", "/api/me", credentials.getOrDefault(Credential.ADMIN, ""), "")
                .json()
                .path("id")
                .asText();
        String key = plane.call("POST", "/api/keys?account=" + account, plane.admin,
                "{\"user\":\"" + user + "\",\"expires\":" + soon + "}").json().path("key").asText();
        Awaitility.await()
                .until(() -> plane.call("GET", "/api/me", key, "").status() == 401);
        return key;
    }

    @Test
    void everyOperationThatIsServedHasARow() {
        Set<String> calls = new TreeSet<>();
        plane.call("GET", "/openapi.json", "", "")
                .json()
                .path("paths")
                .properties()
                .forEach(path -> path.getValue().properties().forEach(operation -> {
                    if (operation.getValue().has("responses")) {
                        calls.add(operation.getKey().toUpperCase(Locale.ROOT) + " " + path.getKey());
                    }
                }));
        assertThat(CALLS.keySet()).containsExactlyInAnyOrderElementsOf(calls);
        assertThat(FIELDS.keySet()).containsExactlyInAnyOrderElementsOf(served());
    }

    private Set<String> served() {
        TypeDefinitionRegistry schema = new SchemaParser()
                .parse(plane.call("GET", "/graphql.sdl", "", "").json().asText());
        Set<String> fields = new TreeSet<>();
        for (String root : List.of("Query", "Mutation", "Subscription")) {
            Stream<ObjectTypeDefinition> all = Stream.concat(
                    Stream.ofNullable(schema.getTypeOrNull(root)).map(ObjectTypeDefinition.class::cast),
                    schema.objectTypeExtensions().getOrDefault(root, List.of()).stream());
            all.flatMap(type -> type.getFieldDefinitions().stream())
                    .map(FieldDefinition::getName)
                    .filter(name -> !name.startsWith("_"))
                    .forEach(name -> fields.add(root + "." + name));
        }
        return fields;
    }

    @Test
    void everyCallAcceptsTheCredentialsOfItsRowAlone() {
        List<String> wrong = new ArrayList<>();
        CALLS.forEach((call, row) -> credentials.forEach((credential, text) -> {
            String[] parts = call.split(" ", 2);
            String path = parts[1].replace("{name}", "prod").replaceAll("\\{[a-z]+}", "absent");
            String body = parts[0].equals("GET") || parts[0].equals("DELETE") ? "" : "{}";
            judge(wrong, call, row, credential, plane.call(parts[0], path, text, body).status());
        }));
        assertThat(wrong).isEmpty();
    }

    @Test
    void everyFieldAcceptsTheCredentialsOfItsRowAlone() {
        List<String> wrong = new ArrayList<>();
        FIELDS.forEach((name, field) -> credentials.forEach((credential, text) -> {
            Answer answer = plane.graphQl(text, field.query, Map.of());
            judge(wrong, name, field.row, credential,
                    answer.status() == 200 ? answer.graphQl() : answer.status());
        }));
        assertThat(wrong).isEmpty();
    }

    private static void judge(List<String> wrong, String operation, Row row, Credential credential,
            int status) {
        boolean isAccepted = status != 401 && status != 403;
        int refusal = KEYS.contains(credential) ? 403 : 401;
        if (isAccepted != row.accepted.contains(credential) || (!isAccepted && status != refusal)) {
            wrong.add(operation + " by " + credential + ": " + status + " (row " + row + ")");
        }
    }

    /** The objects of another account are not there, whatever the caller may do in its own. */
    @Test
    void anotherAccountsObjectsAreAbsent() {
        String other = plane.otherAccount("b");
        String admin = credentials.getOrDefault(Credential.ADMIN, "");
        String user = plane.call("GET", "/api/me", admin, "").json().path("id").asText();
        String key = admin.substring(0, admin.indexOf('.'));
        String team = plane.call("POST", "/api/teams", admin, "{\"name\":\"ops\"}")
                .json()
                .path("id")
                .asText();
        String rule = plane.call("POST", "/api/abac", admin,
                "{\"entity\":\"workflows\",\"actions\":[\"VIEW\"],\"teams\":[\"" + team + "\"]}")
                .json()
                .path("id")
                .asText();
        for (String call : List.of("DELETE /api/users/" + user, "DELETE /api/keys/" + key,
                "DELETE /api/teams/" + team, "DELETE /api/abac/" + rule,
                "PUT /api/teams/" + team + "/members/" + user, "GET /api/argo-runtime/prod/storeKey",
                "GET /api/users?account=" + plane.account())) {
            String[] parts = call.split(" ", 2);
            assertThat(plane.call(parts[0], parts[1], other, "").status()).as(call).isEqualTo(404);
        }
        for (String query : List.of("{ runtime(name: \"prod\") { accessMode } }",
                "{ components(runtime: \"prod\") { edges { cursor } } }",
                "mutation { deleteRuntime(name: \"prod\") }",
                "mutation { designateConfigurationRuntime(name: \"prod\") { accessMode } }",
                "mutation { reportRuntimeErrors(reportErrorsArgs: {runtime: \"prod\", errors: []}) }")) {
            assertThat(plane.graphQl(other, query, Map.of()).graphQl()).as(query).isEqualTo(404);
        }
        JsonNode runtimes = plane.graphQl(other, "{ runtimes { edges { cursor } } }", Map.of()).json();
        assertThat(runtimes.at("/data/runtimes/edges")).isEmpty();
    }
}
