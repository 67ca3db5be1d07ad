package dev.culvert.e2e;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;

import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.options.AriaRole;
import com.microsoft.playwright.options.ColorScheme;
import dev.culvert.client.TunnelClient;
import dev.culvert.config.HostPort;
import dev.culvert.routing.RoutingConfig;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Mono;
import reactor.netty.DisposableServer;
import reactor.netty.http.server.HttpServer;

/** The admin pages in a real browser: {@code mvn -P browser}, as CONTRIBUTING.md says. */
class PagesIT {
    private static final List<Integer> WIDTHS = List.of(360, 1280, 2560);
    private static final List<String> PATHS = List.of("/", "/runtimes", "/runtimes?q=nothing-like-it",
            "/runtimes/acme/prod?path=/app-proxy/api/info", "/runtimes/acme/idle", "/runtimes/acme/prod/revoke",
            "/requests", "/requests?status=201", "/problems", "/webhooks", "/webhooks?state=dead", "/events", "/audit",
            "/configuration");
    private static final URI NOWHERE = URI.create("http://127.0.0.1:1");
    private static final Path SCREENSHOTS = Path.of("target/screenshots");

    @TempDir
    private static Path folder = Path.of("");

    private static Platform platform;
    private static Browser browser;
    private static DisposableServer eventSource;
    private static final AtomicInteger RECEIVED = new AtomicInteger();

    @BeforeAll
    static void start() throws Exception {
        eventSource = HttpServer.create()
                .host("127.0.0.1")
                .port(0)
                .handle((request, response) -> request.receive().then(Mono.fromRunnable(RECEIVED::incrementAndGet))
                        .then(response.status(204).send()))
                .bindNow();
        platform = Platform.start(folder);
        platform.connect(platform.clientConfig("acme", "prod", platform.createRuntime("acme", "prod"), null,
                new RoutingConfig(List.of(), RoutingConfig.Policy.allowing(List.of("argo/*")),
                        Map.of("push-eventsource-svc.argo.svc.cluster.local",
                                HostPort.of((InetSocketAddress) eventSource.address())))));
        platform.caller("acme", "prod").post().uri("/webhooks/argo/push").responseContent().blockLast();
        call("/not-there");
        platform.connect("acme", "staging-of-the-payments-team-with-a-long-name", NOWHERE);
        platform.createRuntime("acme", "idle");
        browser = new Browser();
    }

    @AfterAll
    static void stop() {
        browser.close();
        platform.close();
        eventSource.disposeNow();
    }

    static Stream<Arguments> windows() {
        return Stream.of(ColorScheme.LIGHT, ColorScheme.DARK)
                .flatMap(colours -> WIDTHS.stream().map(width -> Arguments.of(colours, width)));
    }

    @ParameterizedTest
    @MethodSource("windows")
    void everyPageShowsAllAndIsAccessible(ColorScheme colours, int width) throws Throwable {
        browser.quiet(() -> {
            Page page = browser.open(origin(), width, colours);
            page.navigate("/login");
            look(page, "login", colours);
            Browser.logIn(page, platform.adminToken(), "/");
            for (String path : PATHS) {
                page.navigate(path);
                look(page, path, colours);
            }
            page.navigate("/requests");
            row(page, "/not-there").first().locator("th a").click();
            assertThat(page.locator("table.waterfall")).isVisible();
            look(page, "request", colours);
        });
    }

    @Test
    void aRuntimeAppearsWhenItsClientStartsAndTurnsRedWhenItDies() throws Throwable {
        browser.quiet(() -> {
            Page page = browser.open(origin(), 1280, ColorScheme.LIGHT);
            Browser.logIn(page, platform.adminToken(), "/runtimes");
            Locator row = row(page, "acme/born");
            assertThat(row).hasCount(0);

            TunnelClient client = platform.connect("acme", "born", NOWHERE);
            assertThat(row.locator(".state.good")).hasText("connected");

            long died = System.nanoTime();
            client.stop(Duration.ZERO).block();
            assertThat(row.locator(".state.bad, .state.warn")).isVisible();
            System.out.printf(Locale.ROOT, "red %d ms after the death of the client%n",
                    Duration.ofNanos(System.nanoTime() - died).toMillis());
        });
    }

    @Test
    void aRuntimeIsFoundByMouse() throws Throwable {
        browser.quiet(() -> {
            Page page = browser.open(origin(), 1280, ColorScheme.LIGHT);
            Browser.logIn(page, platform.adminToken(), "/runtimes");

            search(page).fill("pay");
            assertThat(row(page, "acme/prod")).hasCount(0);
            row(page, "acme/staging").getByRole(AriaRole.LINK).click();

            assertThat(page.getByRole(AriaRole.HEADING, new Page.GetByRoleOptions().setLevel(1)))
                    .containsText("acme/staging-of-the-payments-team");
        });
    }

    @Test
    void aRuntimeIsFoundByKeyboard() throws Throwable {
        browser.quiet(() -> {
            Page page = browser.open(origin(), 1280, ColorScheme.DARK);
            page.navigate("/login");
            assertThat(page.getByLabel("Admin token")).isFocused();
            page.keyboard().type(platform.adminToken());
            page.keyboard().press("Enter");
            press(page, page.getByRole(AriaRole.LINK,
                    new Page.GetByRoleOptions().setName("Runtimes").setExact(true)).first());
            assertThat(page.getByRole(AriaRole.HEADING, named("Runtimes"))).isVisible();

            page.keyboard().press("/");
            page.keyboard().type("pay");
            assertThat(row(page, "acme/prod")).hasCount(0);
            press(page, row(page, "acme/staging").getByRole(AriaRole.LINK));

            assertThat(page.getByRole(AriaRole.HEADING, new Page.GetByRoleOptions().setLevel(1)))
                    .containsText("acme/staging-of-the-payments-team");
        });
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aRequestIsFollowedToItsHops(boolean byMouse) throws Throwable {
        browser.quiet(() -> {
            Page page = browser.open(origin(), 1280, ColorScheme.LIGHT);
            Browser.logIn(page, platform.adminToken(), "/requests");
            String path = "/seen-by-" + (byMouse ? "mouse" : "keyboard");
            assertThat(page.getByRole(AriaRole.BUTTON, named("Pause"))).isVisible();
            call(path);
            assertThat(row(page, path)).hasCount(1);

            activate(page, page.getByLabel("Path"), byMouse);
            page.getByLabel("Path").pressSequentially(path);
            page.getByLabel("Path").press("Enter");
            assertThat(page.locator("tbody tr")).hasCount(1);
            activate(page, row(page, path).locator("th a"), byMouse);

            assertThat(page.locator("table.waterfall")).containsText("Router");
            assertThat(page.getByRole(AriaRole.HEADING, named("Send it again"))).isVisible();
        });
    }

    private static void call(String path) {
        platform.caller("acme", "prod").get().uri(path).responseContent().blockLast();
    }

    @Test
    void accessIsAskedFor() throws Throwable {
        browser.quiet(() -> {
            Page page = browser.open(origin(), 1280, ColorScheme.LIGHT);
            Browser.logIn(page, platform.adminToken(), "/runtimes/acme/prod");

            page.getByLabel("Would this be allowed?").fill("/app-proxy/api/info");
            page.getByRole(AriaRole.BUTTON, named("Check")).click();
            assertThat(page.locator("#allowed .notice")).isVisible();

            Browser.tabTo(page, page.getByLabel("Would this be allowed?"));
            page.keyboard().press("Control+a");
            page.keyboard().type("/workflows/");
            page.keyboard().press("Enter");
            assertThat(page.locator("#allowed .notice")).isVisible();
        });
    }

    @Test
    void aClientIsEnrolledWithTheCommandThatThePageShows() throws Throwable {
        browser.quiet(() -> {
            Page page = browser.open(origin(), 1280, ColorScheme.LIGHT);
            platform.createRuntime("acme", "enrolled");
            Browser.logIn(page, platform.adminToken(), "/runtimes/acme/enrolled");

            press(page, page.getByRole(AriaRole.BUTTON, named("Enrol a client")));
            assertThat(page.locator("#command")).containsText("culvert client");
            page.getByText("The token alone").click();
            String token = page.locator("#token").textContent();
            assertThat(page.locator("#live")).containsText("Waiting for the client");

            platform.connect(platform.clientConfig("acme", "enrolled",
                    Files.writeString(folder.resolve("shown.token"), token), NOWHERE, null));
            assertThat(page.locator("#live .state.good")).hasText("connected");
        });
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aRuntimeIsDrained(boolean byMouse) throws Throwable {
        browser.quiet(() -> {
            Page page = browser.open(origin(), 1280, ColorScheme.DARK);
            String name = byMouse ? "drained-by-mouse" : "drained-by-keyboard";
            platform.connect("acme", name, NOWHERE);
            Browser.logIn(page, platform.adminToken(), "/runtimes/acme/" + name);

            activate(page, page.getByRole(AriaRole.LINK, named("Drain")), byMouse);
            Locator dialog = page.getByRole(AriaRole.DIALOG);
            assertThat(dialog).isVisible();
            Browser.isAccessible(page);
            page.keyboard().press("Escape");
            assertThat(dialog).isHidden();

            activate(page, page.getByRole(AriaRole.LINK, named("Drain")), byMouse);
            activate(page, dialog.getByRole(AriaRole.BUTTON), byMouse);
            assertThat(page.getByRole(AriaRole.STATUS)).isVisible();
            page.navigate("/audit");
            assertThat(page.locator("#main")).containsText("acme/" + name);
        });
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aWebhookIsReplayed(boolean byMouse) throws Throwable {
        browser.quiet(() -> {
            Page page = browser.open(origin(), 1280, ColorScheme.LIGHT);
            Browser.logIn(page, platform.adminToken(), "/webhooks?state=delivered");
            int before = RECEIVED.get();

            activate(page, page.getByText("Replay", new Page.GetByTextOptions().setExact(true)).first(), byMouse);
            activate(page, page.getByRole(AriaRole.DIALOG).getByRole(AriaRole.BUTTON), byMouse);

            assertThat(page.getByRole(AriaRole.STATUS)).isVisible();
            Awaitility.await().until(() -> RECEIVED.get() == before + 1);
        });
    }

    @Test
    void theOverviewNamesWhatFails() throws Throwable {
        browser.quiet(() -> {
            platform.connect("acme", "failing", URI.create("http://" + HostPort.of(
                    (InetSocketAddress) eventSource.address())));
            platform.connect("acme", "refused", NOWHERE);
            for (int i = 0; i < 30; i++) {
                platform.caller("acme", "failing").get().uri("/").responseContent().blockLast();
                platform.caller("acme", "refused").get().uri("/").responseContent().blockLast();
            }
            Page page = browser.open(origin(), 1280, ColorScheme.LIGHT);
            Browser.logIn(page, platform.adminToken(), "/");

            assertThat(page.locator(".troubles")).containsText("acme/refused: 30 of 30 requests (100 %) failed");
            assertThat(page.locator(".troubles")).containsText("upstream-refused at upstream (30)");
            assertThat(row(page, "acme/failing")).containsText("0 %");
            assertThat(row(page, "acme/refused")).containsText("100 %");
            page.screenshot(new Page.ScreenshotOptions().setFullPage(true)
                    .setPath(SCREENSHOTS.resolve("overview-failing.png")));
        });
    }

    @Test
    void fiftyRuntimesAreReadOnATelephone() throws Throwable {
        browser.quiet(() -> {
            for (int i = 0; i < 50; i++) {
                platform.createRuntime("many", "r" + i);
            }
            Page page = browser.open(origin(), 390, ColorScheme.LIGHT);
            Browser.logIn(page, platform.adminToken(), "/runtimes?q=many");

            assertThat(page.locator("tbody tr")).hasCount(50);
            int height = ((Number) page.evaluate("document.documentElement.scrollHeight")).intValue();
            org.assertj.core.api.Assertions.assertThat(height).isLessThan(5500);
        });
    }

    private static Page.GetByRoleOptions named(String name) {
        return new Page.GetByRoleOptions().setName(name).setExact(true);
    }

    private static void activate(Page page, Locator control, boolean byMouse) {
        if (byMouse) {
            control.click();
        } else {
            press(page, control);
        }
    }

    private static String origin() {
        return "http://" + platform.server.adminAddress();
    }

    private static Locator row(Page page, String text) {
        return page.locator("tbody tr", new Page.LocatorOptions().setHasText(text));
    }

    private static Locator search(Page page) {
        return page.getByRole(AriaRole.SEARCHBOX);
    }

    private static void press(Page page, Locator control) {
        assertThat(control).isVisible();
        Browser.tabTo(page, control);
        page.keyboard().press("Enter");
    }

    private static void look(Page page, String path, ColorScheme colours) {
        int width = page.viewportSize().width;
        page.screenshot(new Page.ScreenshotOptions().setFullPage(true)
                .setPath(SCREENSHOTS.resolve(name(path) + "-" + width + "-"
                        + colours.name().toLowerCase(Locale.ROOT) + ".png")));
        Browser.showsAll(page);
        Browser.isAccessible(page);
    }

    private static String name(String path) {
        String name = path.replaceAll("[^a-z0-9]+", "-").replaceAll("^-|-$", "");
        return name.isEmpty() ? "overview" : name;
    }
}
