package dev.culvert.relay.route;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.culvert.config.ConfigException;
import dev.culvert.http.path.HostTemplate;
import dev.culvert.http.problem.Problem.Cause;
import dev.culvert.relay.route.DurableMatch.DurableRoute;
import dev.culvert.relay.route.DurableMatch.Refused;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Base64;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class DurableRoutesTest {
    private static final AnnouncedRoute WEBHOOKS = AnnouncedRoute.durable(
            "/webhooks/{namespace}/{eventSource}/",
            "{eventSource}-eventsource-svc.{namespace}.svc.cluster.local");

    private static AnnouncedRoute direct(String path) {
        return new AnnouncedRoute(RouteRule.of(path), false, true, AnnouncedRoute.USUAL_BODY_BYTES, null,
                SourceList.parse(List.of()), HostTemplate.of("secret-name"));
    }

    private static DurableRoutes announced(AnnouncedRoute... routes) {
        return DurableRoutes.of(Announcement.parse(
                Announcement.of(List.of(routes), List.of("argo/*"), RequestPolicy.OPEN).toJson()));
    }

    private static @Nullable DurableMatch post(DurableRoutes routes, String path) {
        return routes.match("POST", "acme-prod.example.com", path);
    }

    private static String source(@Nullable DurableMatch match) {
        return Objects.requireNonNull((DurableRoute) match).source();
    }

    private static Cause refusal(@Nullable DurableMatch match) {
        return Objects.requireNonNull((Refused) match).problem().cause();
    }

    @Test
    void aSourceOfTheAllowListWithoutAStarIsNamed() {
        RequestPolicy any = RequestPolicy.OPEN;
        DurableRoutes routes = DurableRoutes
                .of(Announcement.parse(
                        Announcement.of(List.of(WEBHOOKS), List.of("argo/*", "ci/github"), any).toJson()));

        assertThat(post(routes, "/webhooks/ci/github/")).isInstanceOfSatisfying(DurableRoute.class,
                route -> assertThat(route.named()).isTrue());
        assertThat(post(routes, "/webhooks/argo/github/")).isInstanceOfSatisfying(DurableRoute.class,
                route -> assertThat(route.named()).isFalse());
    }

    @Test
    void aWebhookHasItsEventSourceAsItsSource() {
        assertThat(post(announced(WEBHOOKS), "/webhooks/argo/pus%68/x?y"))
                .isEqualTo(new DurableRoute("argo/push", "/webhooks/{namespace}/{eventSource}/", true,
                        25 << 20, null, false));
    }

    @Test
    void otherMethodsAndRoutesAreLeftAlone() {
        DurableRoutes routes = announced(WEBHOOKS, direct("/webhooks/argo/live/"), direct("/x/"));

        assertThat(routes.match("GET", "h", "/webhooks/argo/push")).isNull();
        assertThat(post(routes, "/webhooks/argo/live/x")).isNull();
        assertThat(post(routes, "/x")).isNull();
        assertThat(post(routes, "/nowhere")).isNull();
    }

    @Test
    void aRouteThatVerifiesTakesPostsOnly() {
        DurableRoutes routes = announced(new AnnouncedRoute(RouteRule.of("/in/"), true, true, 1,
                new Verification(Verification.Provider.GITHUB, Path.of("secret")),
                SourceList.parse(List.of()), HostTemplate.of("in")));

        for (String method : List.of("GET", "PUT", "post", "Post")) {
            assertThat(refusal(routes.match(method, "h", "/in/x"))).isEqualTo(Cause.METHOD_NOT_ALLOWED);
        }
        assertThat(post(routes, "/in/x")).isInstanceOf(DurableRoute.class);
    }

    @Test
    void whatTheRouterWouldRefuseIsRefused() {
        DurableRoutes routes = announced(WEBHOOKS);

        assertThat(refusal(post(routes, "/webhooks/ci/push"))).isEqualTo(Cause.NOT_ALLOWED);
        assertThat(refusal(routes.match("GET", "h", "/webhooks/ci/push"))).isEqualTo(Cause.NOT_ALLOWED);
        assertThat(refusal(post(routes, "/webhooks/a.b/push"))).isEqualTo(Cause.BAD_REQUEST);
        assertThat(refusal(post(routes, "/webhooks/argo/" + "e".repeat(48)))).isEqualTo(Cause.BAD_REQUEST);
        assertThat(refusal(post(routes, "/webhooks/argo/../x"))).isEqualTo(Cause.BAD_REQUEST);
        assertThat(post(routes, "/webhooks/argo/" + "e".repeat(47))).isInstanceOf(DurableRoute.class);
    }

    @Test
    void whatTheRouterBehindItWillRefuseGoesOnAndAnyNumberOfRoutesCount() {
        DurableRoutes routes = DurableRoutes.beforeRouter(
                Stream.concat(Stream.of(WEBHOOKS),
                        IntStream.range(0, Announcement.MAX_ROUTES)
                                .mapToObj(i -> AnnouncedRoute.durable("/hooks/" + i + "/", "x")))
                        .toList(),
                List.of("argo/*"), RequestPolicy.OPEN);

        assertThat(post(routes, "/webhooks/ci/push")).isNull();
        assertThat(post(routes, "/webhooks/argo/../x")).isNull();
        assertThat(source(post(routes, "/webhooks/argo/push"))).isEqualTo("argo/push");
        assertThat(source(post(routes, "/hooks/1999"))).isEqualTo("hooks/1999");
    }

    @Test
    void policyAndAddressesComeWithTheAnnouncement() throws Exception {
        var route = new AnnouncedRoute(RouteRule.of("/in/", null, List.of("POST"), Map.of("x-env", "a")),
                true,
                false, 1000, new Verification(Verification.Provider.STANDARD_WEBHOOKS, Path.of("secret")),
                SourceList.parse(List.of("192.0.2.0/24")), HostTemplate.of("in.svc"));
        var policy = new RequestPolicy(List.of(), List.of(RequestRule.of("/in/admin/", List.of())));
        DurableRoutes routes = DurableRoutes
                .of(Announcement.parse(Announcement.of(List.of(route), List.of(), policy).toJson()));
        var fields = new DefaultHttp2Headers().method("POST").authority("h").path("/in/x").add("x-env", "a");

        assertThat(routes.match(RouteQuery.of(fields, InetAddress.getByName("192.0.2.7"))))
                .isEqualTo(new DurableRoute("in", "/in/", false, 1000,
                        new Verification(Verification.Provider.STANDARD_WEBHOOKS, null), true));
        assertThat(refusal(routes.match(RouteQuery.of(fields, InetAddress.getByName("198.51.100.7")))))
                .isEqualTo(Cause.NOT_ALLOWED);
        assertThat(refusal(routes.match(RouteQuery.of(fields, null)))).isEqualTo(Cause.NOT_ALLOWED);
        assertThat(post(routes, "/in/x")).as("without the field").isNull();
        assertThat(refusal(post(routes, "/in/%61dmin"))).isEqualTo(Cause.NOT_ALLOWED);
    }

    @Test
    void anAnnouncementNamesNoUpstreamAndNoSecret() {
        var route = new AnnouncedRoute(RouteRule.of("/in/"), true, true, 1,
                new Verification(Verification.Provider.GITHUB, Path.of("/etc/hush")),
                SourceList.parse(List.of()), HostTemplate.of("inner-name.svc"));

        String json = new String(Announcement.of(List.of(WEBHOOKS, route, direct("/in/a/"), direct("/far/")),
                List.of(), RequestPolicy.OPEN).toJson(), StandardCharsets.UTF_8);

        assertThat(json).doesNotContain("inner", "hush", "secret", "cluster", "/far/")
                .contains("\"to\":\"{eventSource}-xxxxxxxxxxx-xxx.{namespace}.xxx.xxxxxxx.xxxxx\"", "/in/a/");
    }

    @Test
    void beforeAnAnnouncementWebhooksOfAllEventSourcesAreStored() {
        DurableRoutes routes = DurableRoutes.byDefault();

        assertThat(post(routes, "/webhooks/any/thing")).isInstanceOf(DurableRoute.class);
        assertThat(post(routes, "/webhooks/../x")).isNull();
        assertThat(post(routes, "/x")).isNull();
        assertThat(post(DurableRoutes.NONE, "/webhooks/a/b")).isNull();
    }

    @Test
    void aSourceIsBoundedWhateverTheCallerWrites() {
        DurableRoutes routes = announced(AnnouncedRoute.durable("/in/{what}/", "in"));

        String one = source(post(routes, "/in/" + "x".repeat(5000)));
        String other = source(post(routes, "/in/" + "x".repeat(5001)));

        assertThat(one).hasSize(200).isNotEqualTo(other);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "[]", "1", "{", "{}x", "{\"routes\":{}}", "{\"routes\":[1]}",
            "{\"routes\":[{\"path\":\"/x/\"}]}", "{\"routes\":[{\"path\":\"x\",\"to\":\"x\"}]}",
            "{\"routes\":[{\"path\":\"/x/\",\"to\":\"x\",\"durable\":true}]}",
            "{\"routes\":[{\"path\":\"/x/\",\"to\":\"{y}\"}]}",
            "{\"routes\":[{\"path\":\"/x/\",\"to\":\"x\",\"durable\":1}]}",
            "{\"routes\":[{\"path\":\"/x/\",\"to\":\"x\",\"headers\":[]}]}",
            "{\"routes\":[{\"path\":\"/x/\",\"to\":\"x\",\"verify\":\"me\"}]}",
            "{\"routes\":[{\"path\":\"/x/\",\"to\":\"x\",\"sources\":[\"x\"]}]}",
            "{\"routes\":[{\"path\":\"/x/\",\"to\":\"x\",\"secrets\":[\"aHVzaA==\"]}]}",
            "{\"routes\":[{\"path\":\"/x/\",\"to\":\"x\",\"verify\":\"github\",\"secrets\":null}]}",
            "{\"routes\":[{\"path\":\"/x/\",\"to\":\"x\",\"verify\":\"github\",\"secrets\":\"aHVzaA==\"}]}",
            "{\"routes\":[{\"path\":\"/x/\",\"to\":\"x\",\"verify\":\"github\",\"secrets\":{\"a\":\"aHVzaA==\"}}]}",
            "{\"routes\":[{\"path\":\"/x/\",\"to\":\"x\",\"verify\":\"github\",\"secrets\":[1]}]}",
            "{\"routes\":[{\"path\":\"/x/\",\"to\":\"x\",\"verify\":\"github\",\"secrets\":[\"\"]}]}",
            "{\"routes\":[{\"path\":\"/x/\",\"to\":\"x\",\"verify\":\"github\",\"secrets\":[null]}]}",
            "{\"webhooks\":[\"x\"]}", "{\"requests\":{\"deny\":[{}]}}",
            "{\"a\":[[[[[[[[[[]]]]]]]]]]}", "{\"routes\":[],\"routes\":[]}"})
    void refusesOtherDocuments(String json) {
        assertThatThrownBy(() -> Announcement.parse(json.getBytes(StandardCharsets.UTF_8)))
                .isInstanceOf(IllegalArgumentException.class);
    }

    private static byte[] sharing(String... base64) {
        return ("{\"routes\":[{\"path\":\"/x/\",\"to\":\"x\",\"verify\":\"gitlab\",\"secrets\":[\""
                + String.join("\",\"", base64) + "\"]}]}").getBytes(StandardCharsets.UTF_8);
    }

    private static String secretOf(int bytes) {
        return Base64.getEncoder().encodeToString(new byte[bytes]);
    }

    @Test
    void sharedSecretsAreBounded() {
        String[] eight = Collections.nCopies(8, secretOf(1024)).toArray(String[]::new);
        String[] nine = Collections.nCopies(9, "aHVzaA==").toArray(String[]::new);

        assertThat(Announcement.parse(sharing(eight)).routes()).hasSize(1);
        assertThatThrownBy(() -> Announcement.parse(sharing(nine))).hasMessageContaining("at most 8");
        assertThatThrownBy(() -> Announcement.parse(sharing(secretOf(1025))))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("1025 bytes");
    }

    @Test
    void whatIsWrongWithASecretIsToldWithoutIt() {
        assertThatThrownBy(() -> Announcement.parse(sharing("%hush%")))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageNotContaining("hush")
                .hasMessageNotContaining("%")
                .hasNoCause();
    }

    private static @Nullable Verification verifiedAs(@Nullable SigningSecrets shared) {
        var route = new AnnouncedRoute(RouteRule.of("/in/"), true, true, 1,
                new Verification(Verification.Provider.GITHUB, Path.of("/etc/file"), shared),
                SourceList.parse(List.of()), HostTemplate.of("in"));
        return ((DurableRoute) Objects.requireNonNull(post(announced(route), "/in"))).verify();
    }

    @Test
    void secretsThatAreSharedArriveAndNoneIsSomethingElseThanNothingSaid() {
        SigningSecrets two = secrets("hush", "n\u00e4chster");

        assertThat(verifiedAs(two)).isEqualTo(new Verification(Verification.Provider.GITHUB, null, two));
        assertThat(verifiedAs(SigningSecrets.NONE))
                .isEqualTo(new Verification(Verification.Provider.GITHUB, null, SigningSecrets.NONE));
        assertThat(verifiedAs(null)).isEqualTo(new Verification(Verification.Provider.GITHUB, null, null));
    }

    private static SigningSecrets secrets(String... texts) {
        return SigningSecrets.of(
                Stream.of(texts).map(text -> text.getBytes(StandardCharsets.UTF_8)).toList());
    }

    @Test
    void nothingPrintsASecret() {
        var route = new DurableRoute("in", "/in/", true, 1,
                new Verification(Verification.Provider.GITHUB, null, secrets("hush")), true);

        assertThat(route.toString()).contains("1 secrets").doesNotContain("hush", "aHVzaA", "104");
        assertThat(secrets("hush")).isEqualTo(secrets("hush"))
                .hasSameHashCodeAs(secrets("hush"))
                .isNotEqualTo(secrets("hush", "hush"))
                .isNotEqualTo(secrets("husk"));
    }

    @Test
    void laterVersionsMayAddMembers() {
        assertThat(Announcement.parse("{\"more\":1}".getBytes(StandardCharsets.UTF_8)).routes()).isEmpty();
    }

    @Test
    void documentsAreBounded() {
        List<AnnouncedRoute> many = IntStream.range(0, 2001)
                .mapToObj(i -> AnnouncedRoute.durable("/in/" + i + "/", "h"))
                .toList();
        List<AnnouncedRoute> long200 = IntStream.range(0, 300)
                .mapToObj(i -> AnnouncedRoute.durable("/in/" + i + "/" + "x".repeat(950) + "/", "h"))
                .toList();

        assertThatThrownBy(() -> Announcement.of(many, List.of(), RequestPolicy.OPEN))
                .isInstanceOf(ConfigException.class);
        assertThatThrownBy(() -> Announcement.of(long200, List.of(), RequestPolicy.OPEN).toJson())
                .isInstanceOf(ConfigException.class);
        assertThatThrownBy(() -> Announcement.parse(new byte[Announcement.MAX_BYTES + 1]))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("at most");
    }
}
