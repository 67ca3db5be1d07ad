package dev.culvert.e2e;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import com.deque.html.axecore.playwright.AxeBuilder;
import com.microsoft.playwright.BrowserContext;
import com.microsoft.playwright.BrowserType.LaunchOptions;
import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.Playwright;
import com.microsoft.playwright.options.AriaRole;
import com.microsoft.playwright.options.ColorScheme;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.function.Executable;

/**
 * Chromium, driven by Playwright. It records what a page must not do: messages on the console, violations of its
 * content security policy, errors of scripts, and requests to another origin.
 */
final class Browser implements AutoCloseable {
    /** Debian's package chromium, or what this property names. */
    private static final Path PROGRAM = Path.of(System.getProperty("culvert.browser", "/usr/bin/chromium"));
    private static final List<String> OPTIONS = List.of("--no-sandbox", "--disable-gpu", "--disable-quic",
            "--disable-background-networking", "--disable-component-update", "--disable-sync", "--no-first-run");
    /** Names each element whose content is wider than its box and can't be scrolled to. */
    private static final String CUT_OFF = """
            () => {
              const root = document.documentElement;
              const cut = root.scrollWidth > root.clientWidth ? ['the page scrolls sideways'] : [];
              for (const e of document.querySelectorAll('body *')) {
                const style = getComputedStyle(e);
                if (!e.checkVisibility() || e.closest('.visually-hidden, svg')) continue;
                const hidden = ['hidden', 'clip'].includes(style.overflowX);
                if (hidden && e.clientWidth > 1 && e.scrollWidth > e.clientWidth + 1) cut.push('cut off: ' + e.outerHTML.slice(0, 120));
                const box = e.getBoundingClientRect();
                if (box.width > 0 && (box.right > root.clientWidth + 1 || box.left < -1)
                    && !e.closest('.scroll, .skip')) cut.push('outside: ' + e.outerHTML.slice(0, 120));
              }
              return cut;
            }""";

    private final Playwright playwright = Playwright
            .create(new Playwright.CreateOptions().setEnv(Map.of("PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD", "1")));
    private final com.microsoft.playwright.Browser program = playwright.chromium()
            .launch(new LaunchOptions().setExecutablePath(PROGRAM).setArgs(OPTIONS));
    private final List<String> faults = new ArrayList<>();

    /** Opens a window, with a profile of its own, on {@code origin}. */
    Page open(String origin, int width, ColorScheme colours) {
        BrowserContext context = program.newContext(new com.microsoft.playwright.Browser.NewContextOptions()
                .setBaseURL(origin)
                .setViewportSize(width, 900)
                .setColorScheme(colours));
        Page page = context.newPage();
        page.onConsoleMessage(message -> faults.add("console: " + message.text() + " at " + page.url()));
        page.onPageError(error -> faults.add("error: " + error + " at " + page.url()));
        page.onRequest(request -> {
            if (!request.url().startsWith(origin + "/") && !request.url().startsWith("data:")) {
                faults.add("request to " + request.url() + " at " + page.url());
            }
        });
        return page;
    }

    /** Logs in with an admin token, and ends at {@code path}. */
    static void logIn(Page page, String token, String path) {
        page.navigate("/login");
        page.getByLabel("Admin token").fill(token);
        page.getByRole(AriaRole.BUTTON, new Page.GetByRoleOptions().setName("Log in")).click();
        assertThat(page.getByRole(AriaRole.HEADING, new Page.GetByRoleOptions().setName("Overview"))).isVisible();
        page.navigate(path);
    }

    /** Asserts that everything on the page can be seen at this width. */
    static void showsAll(Page page) {
        assertThat((List<?>) page.evaluate(CUT_OFF)).as("%s at %d px", page.url(), page.viewportSize().width)
                .isEmpty();
    }

    /** Asserts that axe-core finds nothing, of any level. */
    static void isAccessible(Page page) {
        assertThat(new AxeBuilder(page).analyze().getViolations()).as(page.url()).isEmpty();
    }

    /** Moves the focus by the tabulator key alone, as a person without a mouse does. */
    static void tabTo(Page page, Locator control) {
        for (int i = 0; i < 200; i++) {
            if ((Boolean) control.evaluate("e => e === document.activeElement")) {
                return;
            }
            page.keyboard().press("Tab");
        }
        throw new AssertionError("the focus never reaches " + control);
    }

    /** Runs {@code steps} and asserts that nothing was recorded meanwhile. */
    void quiet(Executable steps) throws Throwable {
        faults.clear();
        steps.execute();
        assertThat(faults).isEmpty();
    }

    @Override
    public void close() {
        program.close();
        playwright.close();
    }
}
